/// How long an attempt may take, and when the next one follows. Milliseconds.
package struct RetryPolicy: Hashable, Sendable {
    /// An attempt without an answer for so long counts as lost.
    package var attemptDeadline: UInt64 = 30_000
    /// The wait after the first failure, before half of it is drawn at random.
    package var firstDelay: UInt64 = 1_000
    /// No wait is doubled beyond it: 5 minutes.
    package var longestDelay: UInt64 = 300_000
    /// After so many failures in a row the person who asked is told, once.
    package var stuckAfter = 8

    /// What every kind here goes by.
    package static let standard = RetryPolicy()

    /// 30 s for an answer; waits are doubled from 1 s to 5 min.
    package init() {}

    /// Doubled with each failure in a row; a random half, so that laptops that failed together do not return together
    /// ("equal jitter": Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
    package func delay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> UInt64 {
        let doublings = max(0, min(failures - 1, 40))
        let whole = min(firstDelay << UInt64(doublings), longestDelay)
        return UInt64.random(in: whole / 2...whole, using: &generator)
    }
}
