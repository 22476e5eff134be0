import CRDT
import GRDB

/// What a fold that is due would name: each transform of the items whose tombstones may be forgotten.
struct FoldPlan {
    /// A fold has to fit into a change, at 32 bytes for each; what is left is folded next time.
    static let longest = 12 << 10

    /// - Parameter own: who asks. Only the first of the roster forgets what is removed; what is gone by a fold of another
    ///   branch than this store has folds whoever has it.
    /// - Returns: nil when nothing can be folded.
    static func fold(
        _ stability: Roster.Stability, by own: ReplicaID, roster: Roster, job: Int64, in db: Database
    ) throws -> Fold? {
        let isFirst = stability.members.first == own
        guard try isFirst || TombstoneTable.hasGone(job: job, in: db) else { return nil }
        let items = try TombstoneTable.items(job: job, within: stability.stable, in: db)
        guard !items.isEmpty else { return nil }
        let gone = try GoneTable(job: job, in: db)
        var wanted = try Set(
            items.filter { item in
                if try gone?.holds(item) == true { return true }
                return try isFirst && ItemTable.state(of: item, job: job, in: db)?.removed != nil
            })
        var settled: Set<ItemID> = []
        let held = try HeldTable.dots(job: job, in: db)
        let heads = try JournalTable.positions(of: job, in: db)
        let late = roster.lateSpans(within: heads)
        let members = Set(stability.members)
        var runs: [ItemID: [Dot: UInt64]] = [:]
        try SegmentReader.forEach(job: job, in: db) { scanned, _, dot in
            guard scanned.stub == nil, wanted.contains(scanned.item) else { return }
            let bound = stability.bounds[of: dot.replica]
            let last = scanned.last(from: dot.sequence)
            if late[dot.replica]?.holds(last) == true {
                // The fold itself makes late what a replica off the roster wrote beyond its bound.
                guard members.contains(dot.replica) || last <= bound else { return }
                // A person has to deal with late work first: what is folded cannot be listed.
                guard last <= bound, dot.sequence <= roster.decided(of: dot.replica) else {
                    wanted.remove(scanned.item)
                    return
                }
            } else if last > bound || held.contains(dot) {
                wanted.remove(scanned.item)
                return
            }
            runs[scanned.item, default: [:]][dot] = last
            if scanned.isRemoval, last <= stability.stable[of: dot.replica] { settled.insert(scanned.item) }
        }
        let due = try runs.filter { item, _ in
            guard wanted.contains(item) else { return false }
            return try settled.contains(item) || gone?.holds(item) == true
        }
        return try compose(due, stability, job: job, in: db)
    }

    private static func compose(
        _ items: [ItemID: [Dot: UInt64]], _ stability: Roster.Stability, job: Int64, in db: Database
    ) throws -> Fold? {
        var runs: [ReplicaID: [ClosedRange<UInt64>]] = [:]
        var named: [ItemID] = []
        var count = 0
        for (item, dots) in items.sorted(by: { $0.key < $1.key }) where count + dots.count <= longest {
            count += dots.count
            named.append(item)
            for (dot, last) in dots { runs[dot.replica, default: []].append(dot.sequence...last) }
        }
        var journals: [Fold.Journal] = []
        for (replica, spans) in runs.sorted(by: { $0.key < $1.key }) {
            let key = JournalKey(job: job, replica: replica)
            let joined = spans.joined
            let boundaries = try JournalFolding(journal: key, db: db).boundaries(of: joined)
            let named = joined.compactMap { span in
                boundaries[span.upperBound].map { Fold.Run(span, digest: $0.digest) }
            }
            guard named.count == joined.count else { return nil }
            journals.append(Fold.Journal(replica: replica, runs: named))
        }
        guard !journals.isEmpty, journals.count <= ChangeLimits.positions else { return nil }
        return Fold(bounds: stability.bounds, members: stability.members, items: named, journals: journals)
    }
}
