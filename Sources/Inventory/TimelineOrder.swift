package import CRDT

/// Brings the changes of a job into the order of its timeline without holding them: some 40 bytes a change, and as much
/// for each item.
package struct TimelineOrder: Sendable {
    /// Where a change stands, in the timeline and in its journal.
    private struct Spot: Sendable {
        let anchor: UInt64
        let stamp: Stamp
        let sequence: UInt64
        /// Numbers of replicas.
        let author: UInt32
        let journal: UInt32
    }

    private var spots: [Spot] = []
    private var replicas: [ReplicaID] = []
    private var numbers: [ReplicaID: UInt32] = [:]
    /// How many changes each item has.
    private var counts: [ItemID: UInt32] = [:]

    /// A timeline without a line.
    package init() {}

    /// Lines so far, not counting the changes that are none.
    package var count: Int { spots.count }

    /// Takes a change whose first transform has the given dot, in any order.
    ///
    /// What only machines read, such as what the server holds, is no line.
    package mutating func add(_ change: Change, at dot: Dot) {
        let key = TimelineKey(change, at: dot)
        let isSilent = change.operations.allSatisfy { operation in
            operation.isStatement && TimelineEntry.Decision(operation, at: key) == nil
        }
        guard !isSilent else { return }
        spots.append(
            Spot(
                anchor: key.anchor, stamp: key.stamp, sequence: key.sequence, author: number(of: key.replica),
                journal: number(of: key.journal)))
        counts[change.item, default: 0] += 1
    }

    /// From now on `keys` are in order.
    package mutating func sort() {
        var sorted: [Spot] = []
        swap(&sorted, &spots)
        sorted.sort { key(of: $0) < key(of: $1) }
        spots = sorted
    }

    /// How many changes each item has: given away, as it takes as much room as the order.
    package mutating func takeCounts() -> [ItemID: UInt32] {
        defer { counts = [:] }
        return counts
    }

    /// Where the lines of a range stand; in their order only after `sort`.
    /// - Parameter range: within 0 and `count`.
    package func keys(_ range: Range<Int>) -> [TimelineKey] { spots[range].map(key) }

    private func key(of spot: Spot) -> TimelineKey {
        TimelineKey(
            anchor: spot.anchor, stamp: spot.stamp, replica: replicas[Int(spot.author)], sequence: spot.sequence,
            journal: replicas[Int(spot.journal)])
    }

    private mutating func number(of replica: ReplicaID) -> UInt32 {
        if let number = numbers[replica] { return number }
        let number = UInt32(replicas.count)
        replicas.append(replica)
        numbers[replica] = number
        return number
    }
}

/// Tells a timeline from top to bottom: takes the changes in their order, and says of each what its author saw.
///
/// It remembers the writes of an item from its first change to its last: of most, which are changed once, nothing; of one that
/// is changed all day long every value.
package struct TimelineTeller: Sendable {
    private struct Write: Hashable, Sendable {
        let write: WriteStamp
        let value: String
    }

    private var counts: [ItemID: UInt32]
    /// Items with changes before and after this place, and what was written there.
    private var open: [ItemID: [FieldName: [Write]]] = [:]
    private var previous: (key: TimelineKey, change: Change)?
    /// What one author did at one time, as far as there was more than one change.
    private var works: Set<Work> = []

    /// - Parameter counts: how many changes of each item will come.
    package init(counts: [ItemID: UInt32]) {
        self.counts = counts
    }

    /// - Parameter item: what the item is now.
    /// - Returns: nil for what was told already: the same again is re-issued.
    package mutating func tell(_ change: Change, at key: TimelineKey, item: ItemState?) -> TimelineEntry? {
        let isRepeated = isRepeated(change, at: key)
        let left = counts.removeValue(forKey: change.item) ?? 1
        if left > 1 { counts[change.item] = left - 1 }
        let known = open.removeValue(forKey: change.item)
        var fields = known ?? [:]
        defer { if left > 1 { open[change.item] = fields } }
        guard !isRepeated else { return nil }
        let entry = TimelineEntry(change, key: key, isFirst: known == nil, item: item) { field, replaces in
            Self.seen(by: key, replacing: replaces, of: known?[field] ?? [])
        }
        let write = WriteStamp(stamp: key.stamp, author: key.replica)
        for case .set(let field, let value, _) in change.operations where left > 1 {
            fields[field, default: []].append(Write(write: write, value: value))
        }
        return entry
    }

    /// The greatest of the writes that the author knew: those that it names, what they had replaced, and its own.
    private static func seen(by key: TimelineKey, replacing named: [WriteStamp], of writes: [Write]) -> String? {
        writes.filter { known in
            known.write.author == key.replica
                || named.contains { $0.author == known.write.author && $0.stamp >= known.write.stamp }
        }.max { left, right in
            // Two copies of a store may have written at one time: then bytes decide, as in the register.
            left.write == right.write
                ? left.value.utf8.lexicographicallyPrecedes(right.value.utf8) : left.write < right.write
        }?.value
    }

    private mutating func isRepeated(_ change: Change, at key: TimelineKey) -> Bool {
        defer { previous = (key, change) }
        guard let previous, previous.key.stamp == key.stamp, previous.key.replica == key.replica else {
            works = []
            return false
        }
        // Written by one author at one time.
        if works.isEmpty { works.insert(Work(previous.change)) }
        return !works.insert(Work(change)).inserted
    }

    /// What a change does.
    private struct Work: Hashable, Sendable {
        let item: ItemID
        let operations: [CRDT.Operation]

        init(_ change: Change) {
            item = change.item
            operations = change.operations
        }
    }
}
