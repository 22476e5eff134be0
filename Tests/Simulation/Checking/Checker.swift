import CRDT
import Inventory
import Replication
import Storage
import Timekeeping

/// Holds each device against the rules after everything that it does.
///
/// What has just changed is looked at every time; everything that a store holds of a job only now and then, after each
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
    /// Transforms that were acknowledged to a person. What only a store had that was set back is nobody's fault.
    var acknowledged: [Acknowledged: Set<WriteStamp>] = [:]
    /// What the removers of a job held when they removed it: it has gone with the job, as a person wanted.
    var wentWithJob: [JobID: Set<Written>] = [:]
    var requestsWentWithJob: [JobID: Set<MutationToken>] = [:]
    /// Work in shorter branches of a journal that was forked, which a laptop has taken for the beginning of what a remover
    /// held: see docs/deletes.md for why it cannot know.
    var takenForBeginning: [JobID: Set<Written>] = [:]
    /// How often such work was acknowledged, and is shown nowhere.
    var freedUnlisted = 0
    /// What people asked of the office, acknowledged.
    var requests: [JobID: [MutationToken: MutationRequest]] = [:]
    /// What people took back, acknowledged.
    var withdrawn: [JobID: Set<MutationToken>] = [:]
    /// By whom and when each piece of work was written first.
    var firstWrites: [Work: Set<WriteStamp>] = [:]
    /// What the author's laptop showed when it was written, of each value.
    var shownBefore: [Showing: Set<Text?>] = [:]
    /// Exports by what was known (rule R3).
    var exports: [SeenState: UInt64] = [:]
    private(set) var checked: [Check: Int] = [:]
    private var possible: Set<Check> = []

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

    /// From now on the run has to look at such a thing before it ends.
    func expect(_ checks: Check...) { possible.formUnion(checks) }

    /// A run that checked nothing of what it made possible is none.
    func checkThatChecked() throws {
        let missing = possible.filter { checked[$0] == nil }.map(\.rawValue).sorted()
        guard missing.isEmpty else {
            throw Violation("checks", "nothing was checked of: \(missing.joined(separator: ", ")).")
        }
    }

    // MARK: Events

    /// A device's own work was reported durable: several commits, when they were made durable together.
    func wrote(_ commits: [Commit], by device: Device, now: Int64) async throws {
        var written: [JobID: [Reference.Entry]] = [:]
        for commit in commits {
            let before = device[commit.job]
            let added = try append(commit, by: device, now: now)
            if added.contains(where: \.isRemoval) {
                try await ended(commit.job, knowing: before, on: device)
            } else {
                written[commit.job, default: []] += added
            }
        }
        for (job, added) in written.sorted(by: { $0.key < $1.key }) { try await changed(device, job, added) }
    }

    private func append(_ commit: Commit, by device: Device, now: Int64) throws -> [Reference.Entry] {
        let (job, replica) = (commit.job, device.store.identity.replica)
        let before = device[job]
        let known = before.head(of: replica)
        guard commit.segment.first == known.sequence + 1, commit.segment.replica == replica else {
            throw Violation("R9", "\(device) wrote \(commit.segment.brief) after \(known.sequence).")
        }
        let added = try device.references[job, default: Reference()].append(commit.segment)
        if before.isRemoved, let entry = added.first(where: { !$0.isStatement && !$0.change.isPreamble }) {
            throw Violation("R10", "\(device) wrote \(entry.first) in a job that it knows is removed.")
        }
        for case .removeJob(let removal) in added.flatMap(\.change.operations) {
            try removed(job, by: device, knowing: before, saying: removal)
        }
        remember(added)
        noteShown(before: added, in: job, knowing: before)
        acknowledge(added, in: job)
        try checkStamps(of: added, in: job, knowing: before, by: device, now: now)
        noteUnseen(added, in: job, on: device, now: now)
        return added
    }

    /// A piece of another replica's journal was reported durable.
    func stored(_ segment: JournalSegment, of job: JobID, by device: Holder) async throws {
        let former = device[job]
        let added = try device.references[job, default: Reference()].append(segment)
        try checkAuthors(of: added, on: device)
        if added.contains(where: \.isRemoval) { return try await ended(job, knowing: former, on: device) }
        try await changed(device, job, added)
    }

    private func changed(_ device: Holder, _ job: JobID, _ added: [Reference.Entry]) async throws {
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

    /// Work that nobody can have seen is remembered with the true time of its writing.
    private func noteUnseen(_ added: [Reference.Entry], in job: JobID, on device: Device, now: Int64) {
        if device.time.isSynchronised || device[job].isRemoved {
            device.unseen[job] = nil
        } else if device.exposedLinks.isEmpty, !device.isExposedToOffice, device.lieMilliseconds == 0 {
            // A stamp that had to follow its item says nothing of its time.
            let time = device.receiveTime(at: now).milliseconds
            for entry in added where entry.change.stamp.milliseconds == time && !entry.isStatement {
                device.unseen[job, default: [:]][entry.first] = now
            }
        }
    }
}

extension Checker {
    /// Somebody else's journal, of which the world has only this.
    func wroteForOthers(_ segment: JournalSegment, of job: JobID, by device: Device) async throws {
        try await stored(segment, of: job, by: device)
        let entries = device[job].journals[segment.replica] ?? []
        remember(entries)
        acknowledge(entries, in: job)
    }
}
