import CRDT
import Engine
import Inventory
import LocalAPI
import LocalAPIServer
import Storage
import Synchronization

/// Tells those who listen what replication brings, and the housekeeping what has changed.
final class ChangePublisher: ReplicationObserver {
    private let hub: EventHub
    private let store: Store
    private let housekeeping: Housekeeping

    private let listeners = Mutex<[@Sendable (JobAdvance) -> Void]>([])

    private struct Waiting: Sendable {
        let job: JobID
        let applied: [AppliedChange]
    }

    private let changes: AsyncStream<Waiting>
    private let waiting: AsyncStream<Waiting>.Continuation

    init(hub: EventHub, store: Store, housekeeping: Housekeeping) {
        // Who lists thousands at once is told to read anew.
        (changes, waiting) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1_024))
        self.hub = hub
        self.store = store
        self.housekeeping = housekeeping
    }

    func jobAdvanced(_ advance: JobAdvance) {
        housekeeping.jobChanged(advance.job)
        for listener in listeners.withLock({ $0 }) { listener(advance) }
        if hub.wants(.job) {
            hub.publish(
                .job(
                    JobAdvanced(
                        job: advance.job.text, vector: advance.vector.sequences, isRemoved: advance.isRemoved)))
        }
        guard !advance.applied.isEmpty, hub.wants(.change) else { return }
        // Names take a look into the store: nobody who waits for the job itself should wait for that.
        let outcome = waiting.yield(Waiting(job: advance.job, applied: advance.applied))
        if case .dropped = outcome { hub.publish(.reset) }
    }

    /// Calls it at each change of a job; it must not wait.
    func onAdvance(_ listener: @escaping @Sendable (JobAdvance) -> Void) {
        listeners.withLock { $0.append(listener) }
    }

    /// Describes changes, one after another in the order in which they came, until the stream ends.
    func run() async {
        for await next in changes { await publish(next.applied, job: next.job) }
    }

    private func publish(_ applied: [AppliedChange], job: JobID) async {
        guard let stored = try? await store.job(job), let sessions = try? await store.workSessions(of: job) else {
            return
        }
        var reporter = ChangeReporter(job: stored)
        let decisions = applied.filter(\.change.isOfStatements).flatMap {
            TimelineEntry($0.change, key: TimelineKey($0.change, at: $0.dot), isFirst: false).decisions
        }
        reporter.wishes = await store.wishes(decisions, in: job)
        for change in applied where !change.change.isPreamble || change.change.isOfStatements {
            hub.publish(.change(reporter.report(change, sessions)))
        }
    }
}
