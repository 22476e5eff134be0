/// When to ask a server for the time again, in milliseconds: a value without a clock.
///
/// Four times in quick succession, then about once a minute (RFC 5905's shortest steady interval); after failures
/// ever more seldom. With some chance, but for the quick ones, so that a fleet does not ask all at once.
struct AskingPlan: Sendable {
    static let quickAnswers = 4
    static let quickInterval: UInt64 = 500
    static let interval: UInt64 = 64_000
    static let shortestRetry: UInt64 = 2_000
    static let longestRetry: UInt64 = 300_000

    private var answers = 0
    private var failures = 0

    mutating func afterAnswer(using generator: inout some RandomNumberGenerator) -> UInt64 {
        failures = 0
        answers = min(answers + 1, Self.quickAnswers)
        guard answers == Self.quickAnswers else { return Self.quickInterval }
        return Self.interval - UInt64.random(in: 0...Self.interval / 16, using: &generator)
    }

    mutating func afterFailure(using generator: inout some RandomNumberGenerator) -> UInt64 {
        answers = 0
        failures = min(failures + 1, 16)
        let longest = min(Self.shortestRetry << UInt64(failures - 1), Self.longestRetry)
        return longest / 2 + UInt64.random(in: 0...longest / 2, using: &generator)
    }
}
