package import CRDT
import HTTPCoding
import NIOHTTP1
package import Outbox

/// One method per operation of the API; see `openapi.json` of ChannelServer.
extension ChannelClient {
    /// `GET /v1/jobs`: `ChannelLimits.entries` jobs at most that have changed since a cursor.
    ///
    /// - Parameter cursor: of the answer before; nil lists all jobs.
    package func jobs(since cursor: String?) async -> ServerReply<JobChangeList> {
        let since = cursor.map { "&since=\($0)" } ?? ""
        return await execute(Ask(path: "/v1/jobs?limit=\(ChannelLimits.entries)\(since)"))
            .map(JobChangeList.init(protobuf:))
    }

    /// `GET /v1/jobs/{job}/vector`: how far the server holds each journal; `unknownJob` where it has none.
    package func holdings(of job: JobID) async -> ServerReply<JobHoldings> {
        await execute(Ask(path: "/v1/jobs/\(job)/vector")).map(JobHoldings.init(protobuf:))
    }

    /// `GET /v1/jobs/{job}/assignments`: what was said of who is on it; `unknownJob` where this laptop has nothing to do with it.
    package func assignments(of job: JobID) async -> ServerReply<[Assignment]> {
        await execute(Ask(path: "/v1/jobs/\(job)/assignments")).map { bytes in
            try Self.statements(bytes)
        }
    }

    /// `POST /v1/assignments`: brings statements, `ChannelLimits.assignments` at most; all are taken, or none.
    ///
    /// - Returns: those that were news to the server.
    package func bring(_ assignments: [Assignment]) async -> ServerReply<[Assignment]> {
        guard let body = try? JSON.encode(AssignmentList(assignments)) else {
            return .lost("it cannot be written")
        }
        let ask = Ask(method: .POST, path: "/v1/assignments", body: body, type: ChannelHeader.json)
        return await execute(ask).map { bytes in try Self.statements(bytes) }
    }

    private static func statements(_ bytes: [UInt8]) throws -> [Assignment] {
        guard let list = try? JSON.decode(AssignmentList.self, from: bytes) else {
            throw MalformedMessage(sentence: "The list of assignments cannot be read.")
        }
        return try list.statements()
    }

    /// `POST /v1/certificates`: asks for more of the certificate that this laptop shows, however old that is.
    ///
    /// - Returns: in DER: the renewal, the server's own certificate and its issuer's.
    package func renewal() async -> ServerReply<[[UInt8]]> {
        await execute(Ask(method: .POST, path: "/v1/certificates")).map { bytes in
            guard let list = try? JSON.decode(CertificateList.self, from: bytes) else {
                throw MalformedMessage(sentence: "The list of certificates cannot be read.")
            }
            return try list.chain()
        }
    }

    /// `PUT /v1/jobs/{job}/removal`: tells that a job has ended; a repetition changes nothing.
    ///
    /// - Returns: how far the server then holds the job's journals.
    package func remove(_ job: JobID, _ removal: JobRemoval) async -> ServerReply<JobHoldings> {
        guard let body = try? removal.protobuf() else { return .lost("it cannot be written") }
        return await execute(Ask(method: .PUT, path: "/v1/jobs/\(job)/removal", body: body))
            .map(JobHoldings.init(protobuf:))
    }

    /// `GET /v1/jobs/{job}/channel`: what follows an ordering id; `channelBehind` where the server ends before.
    package func channel(of job: JobID, after sequence: UInt64) async -> ServerReply<SegmentList> {
        await execute(Ask(path: "/v1/jobs/\(job)/channel?after=\(sequence)&limit=\(ChannelLimits.entries)"))
            .map(SegmentList.init(protobuf:))
    }

    /// `GET /v1/jobs/{job}/journals/{replica}`: runs that follow one another, of some 512 KiB together, none at the end.
    package func journal(from place: JournalPlace) async -> ServerReply<SegmentList> {
        await execute(Ask(path: "/v1/jobs/\(place.job)/journals/\(place.replica)?after=\(place.after)"))
            .map(SegmentList.init(protobuf:))
    }

    /// `POST /v1/jobs/{job}/journals`: takes runs in; `journalGap`, `journalForked` or `channelUpload` refuse one.
    ///
    /// - Returns: how far the server then holds the job's journals.
    package func upload(_ segments: [JournalSegment], to job: JobID) async -> ServerReply<JobHoldings> {
        guard let body = try? SegmentList(segments: segments).protobuf() else { return .lost("it cannot be written") }
        return await execute(Ask(method: .POST, path: "/v1/jobs/\(job)/journals", body: body))
            .map(JobHoldings.init(protobuf:))
    }

    /// `POST /v1/mutations`: asks for changes of what the server owns, in their order, with each token as the key of its
    /// effect. They are of any jobs, at least one and `ChannelLimits.mutations` at most.
    ///
    /// An answer that decides others than the first of them is lost.
    package func deliver(_ deliveries: [Delivery]) async -> ServerReply<MutationDecisions> {
        guard let body = try? deliveries.protobuf() else { return .lost("it cannot be written") }
        return await execute(Ask(method: .POST, path: "/v1/mutations", body: body)).map { bytes in
            let decisions = try MutationDecisions(protobuf: bytes)
            guard !decisions.outcomes.isEmpty,
                deliveries.map(\.request.token).starts(with: decisions.outcomes.map(\.token))
            else { throw MalformedMessage(sentence: "It decides other requests.") }
            return decisions
        }
    }
}

/// A place in a journal: after a sequence.
///
/// One value, as the async functions want it (see ARCHITECTURE.md, "Threads").
package struct JournalPlace: Hashable, Sendable {
    /// Where the journal stands: each job has its own.
    package let job: JobID
    /// Whose journal it is; `ReplicaID.channel` for the server's.
    package let replica: ReplicaID
    /// The last sequence that is held already; 0 for none.
    package var after: UInt64

    /// Names what follows `after`, from the journal's beginning without it.
    package init(job: JobID, replica: ReplicaID, after: UInt64 = 0) {
        self.job = job
        self.replica = replica
        self.after = after
    }
}

extension ServerReply<MutationDecisions> {
    /// What the outbox makes of it. Nothing but the server's own decision is for good.
    package var forOutbox: OutboxMachine.Reply {
        switch self {
        case .answer(let decisions): .decided(decisions.outcomes)
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
