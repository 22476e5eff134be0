/// How many names of invitations are looked up, for all who ask together: so many at once, and then so many a second.
///
/// In the ten minutes of an invitation those are 11,000 of the 1,048,576 names that there are: who guesses finds it with
/// a probability of 1 %, and can then use its tries up, no more. A value; times are milliseconds.
package struct AttemptLimit: Sendable {
    private static let atOnce = 2_000
    private static let perSecond = 15

    /// In thousandths of an attempt.
    private var credit = UInt64(atOnce) * 1_000
    private var last: UInt64

    /// Begins with all that may come at once.
    package init(now: UInt64) {
        last = now
    }

    /// Whether there is room for one more; takes it.
    package mutating func allowsOne(now: UInt64) -> Bool {
        credit = min(credit + (now - min(now, last)) * UInt64(Self.perSecond), UInt64(Self.atOnce) * 1_000)
        last = max(now, last)
        guard credit >= 1_000 else { return false }
        credit -= 1_000
        return true
    }
}
