/// Names a change by what it says and by who wrote it first, in whichever journal it stands and however often it was
/// issued again.
///
/// A dot names a place in a journal. When a journal was forked, another change may come to stand at that place (rule R9);
/// what a person decided about the first must not be taken for a word about the second.
package struct ChangeIdentity: Hashable, Comparable, Sendable {
    /// SipHash-2-4 of the change as its first author wrote it, without anchor, under a key that everybody knows: it tells
    /// changes apart that were written by chance, not by somebody who looks for a collision.
    package let value: UInt64

    package init(_ value: UInt64) {
        self.value = value
    }

    /// - Parameter replica: in whose journal the change stands.
    package init(of change: Change, in replica: ReplicaID) {
        var first = change
        first.origin = change.origin ?? replica
        first.anchor = 0
        value = ChangeCodec.encode(first).withUnsafeBytes { SipHash.hash($0, key: Self.key) }
    }

    private static let key: (UInt64, UInt64) = (0x6368_616e_6765_2069, 0x6465_6e74_6974_7931)

    package static func < (left: ChangeIdentity, right: ChangeIdentity) -> Bool { left.value < right.value }
}
