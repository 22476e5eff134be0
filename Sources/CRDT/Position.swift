/// How far somebody holds one journal.
package struct Position: Hashable, Comparable, Sendable {
    package let replica: ReplicaID
    package let sequence: UInt64

    package init(replica: ReplicaID, sequence: UInt64) {
        self.replica = replica
        self.sequence = sequence
    }

    package static func < (left: Position, right: Position) -> Bool {
        (left.replica, left.sequence) < (right.replica, right.sequence)
    }
}

extension [Position] {
    /// Of positions that ascend by replica; 0 for a journal that is not named.
    package subscript(of replica: ReplicaID) -> UInt64 {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].replica < replica { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].replica == replica ? self[low].sequence : 0
    }
}
