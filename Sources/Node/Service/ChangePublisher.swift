import CRDT
import LocalAPI
import Storage

/// Tells those who listen what replication brings, and the housekeeping what has changed.
final class ChangePublisher: ReplicationObserver {
    private let hub: EventHub
    private let store: Store
    private let housekeeping: Housekeeping

    init(hub: EventHub, store: Store, housekeeping: Housekeeping) {
        self.hub = hub
        self.store = store
        self.housekeeping = housekeeping
    }

    func jobAdvanced(_ job: JobID, vector: VersionVector, applied: [AppliedChange], segment: JournalSegment) {
        housekeeping.jobChanged(job)
        guard hub.hasListeners else { return }
        hub.publish(.job(JobAdvanced(job: job.text, vector: vector.sequences)))
        guard !applied.isEmpty, hub.hasChangeListeners else { return }
        // Names take a look into the store: nobody who waits for the job itself should wait for that.
        Task { await publish(applied, job: job, segment: segment) }
    }

    private func publish(_ applied: [AppliedChange], job: JobID, segment: JournalSegment) async {
        guard let stored = try? await store.job(job) else { return }
        let reporter = ChangeReporter(job: stored)
        let transforms = applied.reduce(0) { $0 + UInt64($1.change.operations.count) }
        var sequence = segment.head.sequence - transforms + 1
        for change in applied {
            hub.publish(.change(reporter.report(change, sequence: sequence)))
            sequence += UInt64(change.change.operations.count)
        }
    }

    func peersChanged() {}
}
