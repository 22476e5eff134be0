package import CRDT
import Synchronization

/// Remembers for whom a fleet vouches, so that each author's certificates are looked at once and not with each run.
package final class VouchedAuthors: Sendable {
    private struct Known {
        /// The fleet's root, in DER.
        var root: [UInt8] = []
        var authors: Set<JournalAuthor> = []
    }

    private static let most = 4_096

    private let known = Mutex(Known())

    /// Knows nobody yet.
    package init() {}

    /// As `FleetTrust.vouches`.
    package func includes(_ author: JournalAuthor, in trust: FleetTrust, now: TimeBounds) async -> Bool {
        let root = trust.root.bytes
        if known.withLock({ $0.root == root && $0.authors.contains(author) }) { return true }
        guard await trust.vouches(for: author, now: now) else { return false }
        known.withLock { known in
            if known.root != root || known.authors.count >= Self.most { known = Known(root: root) }
            known.authors.insert(author)
        }
        return true
    }
}
