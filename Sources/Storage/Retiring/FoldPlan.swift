import CRDT
import GRDB

/// What a fold that is due would name: each transform of the items whose tombstones may be forgotten.
struct FoldPlan {
    /// A fold has to fit into a change; what is left is folded next time.
    static let longest = 16 << 10

    /// Nil when nothing can be folded.
    static func fold(_ stability: Roster.Stability, roster: Roster, job: Int64, in db: Database) throws -> Fold? {
        let items = try TombstoneTable.items(job: job, within: stability.stable, in: db)
        guard !items.isEmpty else { return nil }
        var wanted = try Set(items.filter { try ItemTable.state(of: $0, job: job, in: db)?.removed != nil })
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
        }
        return try compose(runs.filter { wanted.contains($0.key) }, stability, job: job, in: db)
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
        for (replica, ranges) in runs.sorted(by: { $0.key < $1.key }) {
            let joined = ranges.joined
            let key = JournalKey(job: job, replica: replica)
            guard let end = joined.last?.upperBound,
                let head = try JournalTable.boundary(of: key, at: end, in: db)?.head, head.sequence == end
            else { return nil }
            journals.append(Fold.Journal(replica: replica, runs: joined, digest: head.digest))
        }
        guard !journals.isEmpty, journals.count <= ChangeLimits.positions else { return nil }
        return Fold(bounds: stability.bounds, members: stability.members, items: named, journals: journals)
    }
}
