package import CRDT

/// One line of a job's timeline: who changed what, when, from what to what.
package struct TimelineEntry: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// `before` is the value of the write that was replaced, where the journal still has it.
        case set(field: FieldName, value: String, before: String?)
        case note(text: String)
        case removed
    }

    package let key: TimelineKey
    package let item: ItemID
    /// Who wrote it first.
    package let author: ReplicaID
    package let action: Action

    package init(key: TimelineKey, item: ItemID, author: ReplicaID, action: Action) {
        self.key = key
        self.item = item
        self.author = author
        self.action = action
    }
}

/// The one order of a job on every device: (anchor, stamp, replica, sequence), rule R7.
package struct TimelineKey: Hashable, Comparable, Sendable {
    package let anchor: UInt64
    package let stamp: Stamp
    package let replica: ReplicaID
    package let sequence: UInt64

    package init(anchor: UInt64, stamp: Stamp, replica: ReplicaID, sequence: UInt64) {
        self.anchor = anchor
        self.stamp = stamp
        self.replica = replica
        self.sequence = sequence
    }

    package static func < (left: TimelineKey, right: TimelineKey) -> Bool {
        (left.anchor, left.stamp, left.replica, left.sequence)
            < (right.anchor, right.stamp, right.replica, right.sequence)
    }
}

/// Builds the timeline from journals in any order.
package struct Timeline: Sendable {
    private var changes: [(key: TimelineKey, change: Change)] = []

    package init() {}

    /// Takes a change whose first transform has the given dot.
    package mutating func add(_ change: Change, at dot: Dot) {
        // A re-issued change stands where its first author put it (rule R9).
        let key = TimelineKey(
            anchor: change.anchor, stamp: change.stamp, replica: change.origin ?? dot.replica, sequence: dot.sequence)
        changes.append((key, change))
    }

    /// All transforms in order.
    package func entries() -> [TimelineEntry] {
        var entries: [TimelineEntry] = []
        var last: [RegisterName: String] = [:]
        var previous: (key: TimelineKey, change: Change)?
        for (key, change) in changes.sorted(by: { $0.key < $1.key }) {
            defer { previous = (key, change) }
            if let previous, Self.isReissue(of: previous, (key, change)) { continue }
            for (index, operation) in change.operations.enumerated() {
                let action: TimelineEntry.Action
                switch operation {
                case .set(let field, let value, _):
                    let before = last.updateValue(value, forKey: RegisterName(item: change.item, field: field))
                    action = .set(field: field, value: value, before: before)
                case .append(_, let entry): action = .note(text: entry)
                case .remove: action = .removed
                }
                let place = TimelineKey(
                    anchor: key.anchor, stamp: key.stamp, replica: key.replica, sequence: key.sequence + UInt64(index))
                entries.append(
                    TimelineEntry(
                        key: place, item: change.item, author: key.replica, action: action))
            }
        }
        return entries
    }

    private static func isReissue(
        of previous: (key: TimelineKey, change: Change), _ next: (key: TimelineKey, change: Change)
    ) -> Bool {
        previous.key.stamp == next.key.stamp && previous.key.replica == next.key.replica
            && previous.change.item == next.change.item && previous.change.operations == next.change.operations
    }

    private struct RegisterName: Hashable {
        let item: ItemID
        let field: FieldName
    }
}
