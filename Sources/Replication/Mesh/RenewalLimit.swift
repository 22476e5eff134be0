/// How often a peer's word may make this store a new replica.
///
/// A forged frame looks like the proof that the store was set back (rule R9), and each renewal leaves a name behind for
/// ever. A store is only ever set back while its daemon does not run, so one renewal after each start is what an honest
/// crew mostly needs. But a disk can be copied while its daemon runs, and the copy writes under a name that was minted a
/// moment ago: so a word that comes too soon is kept, and holds as soon as the limit allows.
struct RenewalLimit: Sendable {
    private var next: UInt64 = 0
    /// Why this store has to become a new replica: it has not done so yet.
    private(set) var owed: String?

    func allows(now: UInt64) -> Bool { now >= next }

    /// When the renewal that is owed may be.
    var due: UInt64? { owed == nil ? nil : next }

    /// A peer has shown that this store's name is in doubt.
    mutating func owe(_ reason: String) { owed = owed ?? reason }

    mutating func renewed(now: UInt64, interval: UInt64) {
        next = now + interval
        owed = nil
    }
}
