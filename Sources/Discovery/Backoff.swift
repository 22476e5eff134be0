/// How long to wait before the next try: doubling from a half to five seconds.
struct Backoff: Sendable {
    static let shortestMilliseconds = 500
    static let longestMilliseconds = 5_000

    private var upcomingMilliseconds = Backoff.shortestMilliseconds

    /// The delay before the next try, in milliseconds.
    mutating func nextDelayMilliseconds() -> Int {
        defer { upcomingMilliseconds = min(2 * upcomingMilliseconds, Self.longestMilliseconds) }
        return upcomingMilliseconds
    }

    mutating func reset() {
        self = Backoff()
    }
}
