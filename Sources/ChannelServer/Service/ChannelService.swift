import CRDT
import Inventory
import Logging
import ServerChannel
import Storage

/// A run of the channel of one job.
struct ChannelExtract: Sendable {
    let run: ChannelRun

    var list: SegmentList { SegmentList(segments: [run.segment].compactMap(\.self), head: run.head) }
}

/// What was decided, with what the sender lacked of the channels.
struct Decided: Sendable {
    let outcomes: [Outcome]
    /// Of each job once.
    let channels: [(job: JobID, extract: ChannelExtract)]

    func protobuf() throws -> [UInt8] {
        try MutationDecisions(
            outcomes: outcomes,
            channels: channels.map { MutationDecisions.ChannelNews(job: $0.job, news: $0.extract.list) }
        ).protobuf()
    }
}

/// Where requests are answered: the store, and those who wait for news of it.
struct ChannelService: Sendable {
    /// Of a journal in one answer.
    private static let answerBytes = 512 << 10

    let store: Store
    let hub: ChangeHub
    let batcher: AcknowledgementBatcher
    let setBack: SetBackJobs
    let identity: ServerIdentity
    let now: WallClock
    /// See `ServerSettings`.
    let isRecovering: Bool
    let logger: Logger

    func jobs(since: String?, wait: Int, limit: Int, for access: JobAccess) async throws -> JobChangeList {
        try await waiting(wait, for: nil) {
            let list = try await jobs(since: since, limit: limit, for: access)
            return (list, isNews: !list.entries.isEmpty)
        }
    }

    /// As many as were asked for, if there are so many of which the caller may be told.
    private func jobs(since: String?, limit: Int, for access: JobAccess) async throws -> JobChangeList {
        var page = try await store.jobChanges(since: since, limit: limit)
        let isFromStart = page.isFromStart
        var entries: [JobChangeList.Entry] = []
        while true {
            for change in page.changes {
                let roster = identity.roster(of: change.job)
                let mayReceive = try await mayReceive(change.job, access)
                // Who was taken off hears of that, and of nothing else.
                guard mayReceive || roster.names(access.device) else { continue }
                entries.append(
                    JobChangeList.Entry(
                        job: change.job, channel: mayReceive ? change.head : 0,
                        fingerprint: mayReceive ? change.fingerprint : 0, assignments: roster.fingerprint,
                        isOwnOnly: !mayReceive))
            }
            guard !page.changes.isEmpty, entries.count < limit else { break }
            page = try await store.jobChanges(since: page.cursor, limit: limit - entries.count)
        }
        return JobChangeList(entries: entries, cursor: page.cursor, isFromStart: isFromStart)
    }

    func channel(of job: JobID, after: UInt64, wait: Int, limit: Int) async throws -> ChannelExtract {
        try await waiting(wait, for: job) {
            let run = try await store.channelRun(of: job, after: after, limit: limit)
            guard after <= run.head else { throw Self.behind(run.head) }
            return (ChannelExtract(run: run), isNews: run.segment != nil)
        }
    }

    /// Whoever asks holds more of the channel than this server.
    static func behind(_ head: UInt64) -> ChannelProblem {
        var problem = ChannelProblem(
            .channelBehind, "This server holds the channel up to \(head) only; it has been set back.")
        problem.sequence = head
        return problem
    }

    func journal(of replica: ReplicaID, job: JobID, after: UInt64) async throws -> SegmentList {
        let segments = try await store.runs(
            of: replica, job: job, from: after + 1, sufficientBytes: Self.answerBytes)
        return SegmentList(segments: segments)
    }

    /// Asks again whenever there may be news, until there is, or the time is over.
    private func waiting<Value: Sendable>(
        _ seconds: Int, for job: JobID?, _ ask: () async throws -> (value: Value, isNews: Bool)
    ) async throws -> Value {
        // Not by the wall clock: whoever sets it would have them wait for as long.
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            let ticket = hub.ticket(for: job)
            defer { hub.giveBack(ticket) }
            let answer = try await ask()
            let left = deadline - .now
            if answer.isNews || left <= .zero || hub.hasFinished || Task.isCancelled { return answer.value }
            await ticket.wait(for: left)
        }
    }
}
