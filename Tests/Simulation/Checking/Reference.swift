import Authorship
import CRDT

/// What one store holds of one job, as told by what was reported durable; and what the rules say of it, worked out the
/// slow and obvious way. It shares the encoding of changes with the production code and nothing else.
struct Reference {
    /// A change where it stands.
    struct Entry: Hashable {
        let replica: ReplicaID
        let first: UInt64
        let change: Change

        var dot: Dot { Dot(replica: replica, sequence: first) }
        var last: UInt64 { first + UInt64(change.operations.count) - 1 }
        var isStatement: Bool { change.isStatement }
        /// Ends the job.
        var isRemoval: Bool {
            change.operations.contains { if case .removeJob = $0 { true } else { false } }
        }
        var write: WriteStamp { change.write(in: replica) }
        var work: [Written] { change.work(in: replica) }
        var identity: ChangeIdentity { ChangeIdentity(of: change, in: replica) }
    }

    /// Of a job that was removed only what lies beyond the removal.
    private(set) var journals: [ReplicaID: [Entry]] = [:]
    private(set) var heads: [ReplicaID: JournalHead] = [:]
    private(set) var items: [ItemID: [Entry]] = [:]
    /// All that people did, in any journal that is here.
    private(set) var work: Set<Written> = []
    /// Every removal of the job that was heard of.
    private(set) var removals: [JobRemoval] = []
    /// The furthest anchor of any change that was ever here.
    private(set) var greatestAnchor: UInt64 = 0
    /// Late changes that a person has dealt with.
    private(set) var decided: Set<ChangeIdentity> = []
    /// The running digest after each change, for what is said of other branches.
    private var digests: [Dot: JournalDigest] = [:]
    /// Where the part of each journal begins that did not go with the job.
    private var bases: [ReplicaID: JournalHead] = [:]

    var isEmpty: Bool { heads.isEmpty }

    func head(of replica: ReplicaID) -> JournalHead { heads[replica] ?? .empty }

    func digest(at dot: Dot) -> JournalDigest? { digests[dot] }

    var vector: VersionVector { VersionVector(heads.map { VersionVector.Entry(replica: $0, head: $1) }) }

    // MARK: Journals

    /// Takes in what follows the known part of the journal.
    @discardableResult
    mutating func append(_ segment: JournalSegment) throws(Violation) -> [Entry] {
        let known = head(of: segment.replica).sequence
        guard segment.first <= known + 1 else { throw Violation("R9", "\(segment.brief) leaves a gap after \(known).") }
        var sequence = segment.first
        var added: [Entry] = []
        var digest = head(of: segment.replica).digest
        do {
            try ChangeCodec.scan(segment.bytes) { scanned, buffer in
                let change = ChangeCodec.decode(scanned, in: buffer)
                let entry = Entry(replica: segment.replica, first: sequence, change: change)
                sequence += UInt64(scanned.operationCount)
                guard entry.first > known else { return }
                digest = digest.after(UnsafeRawBufferPointer(rebasing: buffer[scanned.record]))
                digests[Dot(replica: entry.replica, sequence: entry.last)] = digest
                added.append(entry)
            }
        } catch {
            throw Violation("R9", "\(segment.brief) was stored and cannot be read.")
        }
        for entry in added { take(entry) }
        guard sequence == segment.head.sequence + 1 else {
            throw Violation("R9", "\(segment.brief) has \(sequence - segment.first) transforms.")
        }
        heads[segment.replica] = segment.head
        if isRemoved { leaveWithJob() }
        return added
    }

    /// As far as an earlier journal was read, when the rest of it went with its job.
    mutating func begin(_ replica: ReplicaID, after head: JournalHead) {
        heads[replica] = head
    }

    private mutating func take(_ entry: Entry) {
        journals[entry.replica, default: []].append(entry)
        items[entry.change.item, default: []].append(entry)
        work.formUnion(entry.work)
        greatestAnchor = max(greatestAnchor, entry.change.anchor)
        for operation in entry.change.operations {
            switch operation {
            case .removeJob(let removal): removals.append(removal)
            case .decide(let changes): decided.formUnion(changes)
            default: break
            }
        }
    }

    // MARK: The end of the job

    var isRemoved: Bool { !removals.isEmpty }

    /// Hears of a removal other than in a journal.
    mutating func take(_ removal: JobRemoval) {
        removals.append(removal)
        leaveWithJob()
    }

    /// How far the removers held a journal, all of them together: of each journal the farthest.
    func removed(of replica: ReplicaID) -> JournalHead {
        var farthest = JournalHead.empty
        for removal in removals {
            for entry in removal.heads.entries where entry.replica == replica {
                if (entry.head.sequence, entry.head.digest) > (farthest.sequence, farthest.digest) {
                    farthest = entry.head
                }
            }
        }
        return farthest
    }

    /// What goes with the job is not here any more, and counts as held. Of a journal with another content than the
    /// removers held nothing stays under its name.
    private mutating func leaveWithJob() {
        for replica in Set(removals.flatMap { $0.heads.entries.map(\.replica) }) {
            let removed = removed(of: replica)
            let isSame =
                head(of: replica) == removed || bases[replica] == removed
                || digests[Dot(replica: replica, sequence: removed.sequence)] == removed.digest
            if isSame {
                journals[replica]?.removeAll { $0.last <= removed.sequence }
            } else {
                journals[replica] = nil
                heads[replica] = removed
            }
            bases[replica] = removed
        }
        items = [:]
        work = []
        for entry in journals.values.joined() {
            items[entry.change.item, default: []].append(entry)
            work.formUnion(entry.work)
        }
    }

    /// Late work that no person has dealt with, wherever it stands, each once: who takes part in a fork may have issued it again.
    var late: [Entry] {
        guard isRemoved else { return [] }
        var late: [Entry] = []
        let all = journals.values.joined().filter { !$0.isStatement && !$0.change.isPreamble }
        for same in Dictionary(grouping: all, by: \.work).values {
            guard let first = same.min(by: { ($0.replica, $0.first) < ($1.replica, $1.first) }),
                !decided.contains(first.identity)
            else { continue }
            late.append(first)
        }
        return late
    }

    // MARK: Items

    /// What the rules say of an item of a living job.
    func expected(_ item: ItemID) -> ExpectedItem {
        isRemoved ? ExpectedItem([]) : ExpectedItem(items[item] ?? [])
    }

    /// Ascending; removed ones too, and not the job's own.
    var itemIDs: [ItemID] {
        isRemoved ? [] : items.keys.filter { $0 != .job }.sorted()
    }

    /// The latest stamp among what was written on an item, apart from one change.
    func latestStamp(of item: ItemID, without dot: Dot) -> UInt64 {
        (items[item] ?? []).filter { $0.dot != dot }.map(\.change.stamp.rawValue).max() ?? 0
    }
}
