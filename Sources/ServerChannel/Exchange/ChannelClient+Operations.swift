package import CRDT
import NIOHTTP1
package import Outbox

/// One method per operation of the API; see `openapi.json` of ChannelServer.
extension ChannelClient {
    /// - Parameter cursor: of the answer before; nil lists all jobs.
    package func jobs(since cursor: String?) async -> ServerReply<JobChangeList> {
        let since = cursor.map { "&since=\($0)" } ?? ""
        return await execute(Ask(path: "/v1/jobs?limit=\(ChannelLimits.entries)\(since)"))
            .map(JobChangeList.init(protobuf:))
    }

    package func holdings(of job: JobID) async -> ServerReply<JobHoldings> {
        await execute(Ask(path: "/v1/jobs/\(job)/vector")).map(JobHoldings.init(protobuf:))
    }

    /// Tells that a job has ended.
    ///
    /// - Returns: how far the server then holds the job's journals.
    package func remove(_ job: JobID, _ removal: JobRemoval) async -> ServerReply<JobHoldings> {
        guard let body = try? removal.protobuf() else { return .lost("it cannot be written") }
        return await execute(Ask(method: .PUT, path: "/v1/jobs/\(job)/removal", body: body))
            .map(JobHoldings.init(protobuf:))
    }

    /// What follows an ordering id in the channel.
    package func channel(of job: JobID, after sequence: UInt64) async -> ServerReply<SegmentList> {
        await execute(Ask(path: "/v1/jobs/\(job)/channel?after=\(sequence)&limit=\(ChannelLimits.entries)"))
            .map(SegmentList.init(protobuf:))
    }

    package func journal(from place: JournalPlace) async -> ServerReply<SegmentList> {
        await execute(Ask(path: "/v1/jobs/\(place.job)/journals/\(place.replica)?after=\(place.after)"))
            .map(SegmentList.init(protobuf:))
    }

    /// - Returns: how far the server then holds the job's journals.
    package func upload(_ segments: [JournalSegment], to job: JobID) async -> ServerReply<JobHoldings> {
        guard let body = try? SegmentList(segments: segments).protobuf() else { return .lost("it cannot be written") }
        return await execute(Ask(method: .POST, path: "/v1/jobs/\(job)/journals", body: body))
            .map(JobHoldings.init(protobuf:))
    }

    /// - Parameter known: the last ordering id that is held here.
    package func deliver(_ delivery: Delivery) async -> ServerReply<MutationDecision> {
        guard let body = try? delivery.request.protobuf() else { return .lost("it cannot be written") }
        let path = "/v1/jobs/\(delivery.job)/mutations?channel=\(delivery.knownChannel)"
        let ask = Ask(method: .POST, path: path, body: body, key: delivery.request.token.description)
        return await execute(ask).map { bytes in
            let decision = try MutationDecision(protobuf: bytes)
            guard decision.outcome.token == delivery.request.token else {
                throw MalformedMessage(sentence: "It decides another request.")
            }
            return decision
        }
    }
}

/// A place in a journal: after a sequence.
///
/// One value, as the async functions want it (see ARCHITECTURE.md, "Threads").
package struct JournalPlace: Hashable, Sendable {
    package let job: JobID
    package let replica: ReplicaID
    package var after: UInt64

    package init(job: JobID, replica: ReplicaID, after: UInt64 = 0) {
        self.job = job
        self.replica = replica
        self.after = after
    }
}

/// A request on its way.
package struct Delivery: Sendable {
    package let request: MutationRequest
    package let job: JobID
    /// The last ordering id that is held here.
    package let knownChannel: UInt64

    package init(request: MutationRequest, job: JobID, knownChannel: UInt64) {
        self.request = request
        self.job = job
        self.knownChannel = knownChannel
    }
}

extension ServerReply<MutationDecision> {
    /// What the outbox makes of it. Nothing but the server's own decision is for good.
    package var forOutbox: OutboxMachine.Reply {
        switch self {
        case .answer(let decision):
            switch decision.outcome.verdict {
            case .accepted: .accepted
            case .rejected, .withdrawn: .rejected(reason: decision.outcome.reason)
            }
        case .problem(let problem) where problem.code == .predecessorMissing:
            .predecessorMissing(problem.problem?.token.flatMap { MutationToken($0) })
        case .problem(let problem): .tryAgain(status: problem.status, reason: problem.sentence)
        case .busy(let status, let wait): .serverBusy(status: status, retryAfterMilliseconds: wait)
        case .unauthorised: .unauthorised
        case .unreachable(let reason): .unreachable(reason: reason)
        case .lost(let reason): .answerLost(reason: reason)
        }
    }
}
