import CRDT

extension JournalDigest {
    /// Another one.
    fileprivate var spoilt: JournalDigest { JournalDigest(high: high, low: low ^ 0xbad) }
}

/// What a peer sends that has gone mad.
enum Garbage: Int, Hashable, Sendable, CaseIterable {
    case bytes, digest, gap, truncation

    /// Claims to continue the journal, one transform further, with something that does not.
    func applied(to segment: JournalSegment) -> JournalSegment {
        let next = segment.head.sequence + 1
        let wrong = JournalHead(sequence: next, digest: segment.head.digest.spoilt)
        switch self {
        case .bytes:
            return JournalSegment(
                replica: segment.replica, first: next, head: wrong, bytes: [UInt8](repeating: 0xff, count: 20))
        case .digest: return JournalSegment(replica: segment.replica, first: next, head: wrong, bytes: segment.bytes)
        case .gap:
            return JournalSegment(
                replica: segment.replica, first: next + 5,
                head: JournalHead(sequence: next + 5, digest: segment.head.digest.spoilt), bytes: segment.bytes)
        case .truncation:
            return JournalSegment(
                replica: segment.replica, first: next, head: wrong, bytes: segment.bytes.dropLast(3))
        }
    }
}
