import CRDT
import Storage

/// Holds each device against the rules after everything that it does.
///
/// What has just become durable is looked at every time; everything that a store holds of a job only now and then, after each
/// start and in the end, because it costs a walk through the store. What it holds is told by `Reference`, which has
/// nothing in common with the production code but the encoding of changes.
final class Checker {
    struct SeenState: Hashable {
        let job: JobID
        let vector: VersionVector
        let isRemoved: Bool
    }

    /// Replicas whose store was copied or set back: their journals may have two contents until that is noticed.
    var forkable: Set<ReplicaID> = []
    /// Changes that have left a device, by content: they never change again.
    var published: [PublishedPlace: UInt64] = [:]
    /// How each journal stood after each of its author's changes.
    var written: [JobID: [Dot: Set<JournalDigest>]] = [:]
    /// Transforms that were acknowledged to a person. What only a store had that was set back is nobody's fault.
    var acknowledged: [Acknowledged: Set<WriteStamp>] = [:]
    /// What the removers of a job held when they removed it: it has gone with the job, as a person wanted.
    var wentWithJob: [JobID: Set<Written>] = [:]
    var requestsWentWithJob: [JobID: Set<MutationToken>] = [:]
    /// Work in shorter branches of a journal that was forked, which a laptop has taken for the beginning of what a remover
    /// held: see docs/deletes.md for why it cannot know.
    var takenForBeginning: [JobID: Set<Written>] = [:]
    /// What people asked of the server, acknowledged.
    var requests: [JobID: [MutationToken: MutationRequest]] = [:]
    /// What people took back, acknowledged.
    var withdrawn: [JobID: Set<MutationToken>] = [:]
    /// By whom and when each piece of work was written first.
    var firstWrites: [Work: Set<WriteStamp>] = [:]
    /// What the author's laptop showed when it was written, of each value.
    var shownBefore: [Showing: Set<Text?>] = [:]
    /// Of which it is not known, also if it is of the same value on the same item at another time.
    var unsure: Set<Showing> = []
    /// Exports by what was known (rule R3).
    var exports: [SeenState: UInt64] = [:]
    /// What those have signed who may say who is on a job.
    var assigned: Set<Assignment> = []
    /// Who has written under each name.
    var writers: [ReplicaID: DeviceID] = [:]
    private(set) var checked: [Check: Int] = [:]

    struct PublishedPlace: Hashable {
        let job: JobID
        let dot: Dot
    }

    /// Work without its author and time, of any job: what is rescued from a removed one is the same work.
    struct Work: Hashable {
        let item: ItemID
        let deed: Deed
    }

    struct Showing: Hashable {
        let job: JobID
        let work: Work
    }

    // MARK: What was checked

    func count(_ check: Check, _ times: Int = 1) {
        checked[check, default: 0] += times
    }

    // MARK: What has just become durable

    /// Something of any journal.
    func changed(_ device: Holder, _ job: JobID, _ added: [Reference.Entry]) async throws {
        device.changesSinceLook[job, default: 0] += 1
        try await checkShownAtOnce(added, of: job, on: device)
        // To walk through ten thousand items takes a while.
        let patience = 25 + device[job].items.count / 8
        if device.changesSinceLook[job, default: 0] >= patience { try await look(at: device, job) }
    }

    /// Rule R6: every transform counts as soon as it is stored, on every device alike, whatever its stamp.
    private func checkShownAtOnce(_ added: [Reference.Entry], of job: JobID, on device: Holder) async throws {
        guard !device[job].isRemoved else { return }
        let items = Set(added.filter { !$0.isStatement }.map(\.change.item)).sorted()
        // Of a long run some say enough.
        let step = max(1, items.count / 12)
        for index in stride(from: 0, to: items.count, by: step) {
            let item = items[index]
            let state = try await device.store.item(item, job: job) ?? ItemState()
            guard let difference = device[job].expected(item).difference(from: state) else { continue }
            throw Violation(difference.rule, "on \(device), item \(item) at once: \(difference.text).")
        }
        if !items.isEmpty { count(.shownAtOnce, (items.count + step - 1) / step) }
    }
}
