package import CRDT
import Synchronization

/// Remembers for whom a fleet vouches, so that each author's certificates are looked at once and not with each run.
package final class VouchedAuthors: Sendable {
    private struct Known {
        /// The fleet's root, in DER.
        var root: [UInt8] = []
        var authors: [JournalAuthor: FleetMember] = [:]
    }

    private static let most = 4_096

    private let known = Mutex(Known())

    /// Knows nobody yet.
    package init() {}

    /// Whether the fleet has let in, at some time, who it is, and lets it write.
    package func includes(_ author: JournalAuthor, in trust: FleetTrust, now: TimeBounds) async -> Bool {
        await member(author, in: trust, now: now)?.role.mayWrite ?? false
    }

    /// As `FleetTrust.member(_:now:)`; how its certificate stood is told as of the first time.
    package func member(_ author: JournalAuthor, in trust: FleetTrust, now: TimeBounds) async -> FleetMember? {
        let root = trust.root.bytes
        if let member = known.withLock({ $0.root == root ? $0.authors[author] : nil }) { return member }
        guard let member = await trust.member(author, now: now) else { return nil }
        known.withLock { known in
            if known.root != root || known.authors.count >= Self.most { known = Known(root: root) }
            known.authors[author] = member
        }
        return member
    }
}
