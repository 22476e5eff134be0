/// How far somebody holds one journal.
package struct Position: Hashable, Comparable, Sendable {
    /// Whose journal it is.
    package let replica: ReplicaID
    /// The last transform that is held; 0 for none.
    package let sequence: UInt64

    /// Takes any sequence; what is read has at most `ChangeLimits.sequence`.
    package init(replica: ReplicaID, sequence: UInt64) {
        self.replica = replica
        self.sequence = sequence
    }

    /// Orders by replica, then sequence: statements list positions in this order.
    package static func < (left: Position, right: Position) -> Bool {
        (left.replica, left.sequence) < (right.replica, right.sequence)
    }
}

extension [Position] {
    /// Of positions that ascend by replica; 0 for a journal that is not named.
    package subscript(of replica: ReplicaID) -> UInt64 {
        let index = partitioningIndex { $0.replica >= replica }
        return index < count && self[index].replica == replica ? self[index].sequence : 0
    }
}
