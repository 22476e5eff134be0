/// When to ask the server for news, in milliseconds since the boot: a value without a clock.
///
/// At a set interval with some chance in it, so that a fleet does not ask all at once; ever more seldom while the
/// server is ill; not at all without a route, and within 0.3 seconds when one appears.
package struct PollPlan: Sendable {
    /// Why a poll brought nothing.
    package enum Failure: Hashable, Sendable {
        case unreachable
        case unhealthy
        /// The server's wish, in milliseconds; nil when it named no time.
        case busy(UInt64?)
        case unauthorised
    }

    /// The longest rest after failures, in milliseconds, unless the server asks for a longer one.
    package static let longestRest: UInt64 = 300_000
    /// No more of `Retry-After` is believed, in milliseconds.
    package static let longestRetryAfter: UInt64 = 3_600_000
    private static let firstRest: UInt64 = 1_000
    private static let unauthorisedRest: UInt64 = 60_000

    private let interval: UInt64
    private var failures = 0
    private var due: UInt64 = 0
    /// Until then the server is left alone, whatever there is to say.
    private var restEnd: UInt64 = 0
    private var lastFailure: Failure?
    /// Nil until the routes are known.
    package private(set) var isRouteUp: Bool?

    /// - Parameter interval: of polls that are answered, in milliseconds; 100 at least.
    package init(interval: UInt64) {
        self.interval = max(interval, 100)
    }

    /// When to ask next, at once if that is past; nil while there is no route: no timer runs.
    package var nextPoll: UInt64? {
        isRouteUp == true ? max(due, restEnd) : nil
    }

    /// Makes a poll due when a route appears, and ends a rest only if nothing but the way was lacking.
    package mutating func onRoute(isUp: Bool, now: UInt64, using generator: inout some RandomNumberGenerator) {
        let hasAppeared = isUp && isRouteUp != true
        isRouteUp = isUp
        guard hasAppeared else { return }
        // Within a second, but not all laptops of a truck at the same moment.
        due = now + UInt64.random(in: 0...300, using: &generator)
        if lastFailure == .unreachable {
            failures = 0
            restEnd = 0
        }
    }

    /// Connections begin anew, because this machine has another address or was asleep: a poll is due at once. A rest ends only if
    /// nothing but the way was lacking.
    package mutating func onNewWay(now: UInt64) {
        if lastFailure == .unreachable {
            failures = 0
            restEnd = 0
        }
        due = min(due, now)
    }

    /// Ends any rest; the next poll is due after the interval, less up to a fifth of it.
    package mutating func onAnswer(now: UInt64, using generator: inout some RandomNumberGenerator) {
        failures = 0
        lastFailure = nil
        restEnd = 0
        due = now + interval - UInt64.random(in: 0...interval / 5, using: &generator)
    }

    /// Doubles the rest with each failure in a row, from 0.5–1 s up to `longestRest`; a refusal rests a minute at
    /// least, a busy server as long as it wishes.
    package mutating func onFailure(
        _ failure: Failure, now: UInt64, using generator: inout some RandomNumberGenerator
    ) {
        failures = min(failures + 1, 32)
        lastFailure = failure
        let longest = min(Self.firstRest << UInt64(failures - 1), Self.longestRest)
        var rest = UInt64.random(in: longest / 2...longest, using: &generator)
        switch failure {
        case .busy(let wished?):
            let wish = min(wished, Self.longestRetryAfter)
            rest = max(rest, wish + UInt64.random(in: 0...1_000 + wish / 10, using: &generator))
        case .unauthorised: rest = max(rest, Self.unauthorisedRest)
        case .busy(nil), .unhealthy, .unreachable: break
        }
        restEnd = now + rest
        due = restEnd
    }

    /// Something else than a poll has found that the server accepts this device again.
    package mutating func onCredentials(now: UInt64) {
        guard lastFailure == .unauthorised else { return }
        failures = 0
        restEnd = 0
        due = min(due, now)
    }

    /// Who this laptop is to the server, or whom it takes for it, has changed: what went wrong before says nothing any more,
    /// unless the server itself wished to be left alone.
    package mutating func onFleet(now: UInt64) {
        if lastFailure == .unauthorised || lastFailure == .unreachable {
            failures = 0
            restEnd = 0
        }
        due = min(due, now)
    }

    /// There is something to tell the server, or a person wants to know.
    package mutating func onWish(now: UInt64) {
        due = min(due, now)
    }
}
