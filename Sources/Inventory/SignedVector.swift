package import CRDT

/// How far the journals of a job reached when a customer signed for its inventory.
///
///     REPLICA:SEQUENCE REPLICA:SEQUENCE …
///
/// Replicas as 32 hexadecimal digits, ascending, each once; sequences in decimal, from 1. It says only where to
/// look: that the inventory up to there is the one that was signed, the digest beside it proves.
package struct SignedVector: Hashable, Sendable {
    /// With so many a signature is some 47 KiB at most, and so fits into one published value.
    package static let longest = 1_024

    /// The last sequence of each journal; 1 to `ChangeLimits.sequence`.
    package let sequences: [ReplicaID: UInt64]

    /// Nil for more than `longest` journals.
    package init?(_ vector: VersionVector) {
        guard vector.entries.count <= Self.longest else { return nil }
        sequences = Dictionary(uniqueKeysWithValues: vector.entries.map { ($0.replica, $0.head.sequence) })
    }

    /// Nil for what `text` would not write, and so for more than `longest` journals.
    package init?(_ text: String) {
        var sequences: [ReplicaID: UInt64] = [:]
        let entries = text.isEmpty ? [] : text.split(separator: " ", maxSplits: Self.longest)
        guard entries.count <= Self.longest else { return nil }
        for entry in entries {
            let parts = entry.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let replica = ReplicaID(parts[0]), let sequence = UInt64(parts[1]),
                (1...ChangeLimits.sequence).contains(sequence)
            else { return nil }
            sequences[replica] = sequence
        }
        self.sequences = sequences
        guard self.text == text else { return nil }
    }

    /// As it stands in requests and in published signatures.
    package var text: String {
        sequences.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " ")
    }
}
