import CRDT

/// What concerns the server or the network as a whole.
extension OutboxMachine {
    /// There is a route to the internet, or there is none any more. The first call tells how things stand; from then
    /// on a route that appears is a reason to try everything that only backs off.
    package mutating func onRoute(
        isUp: Bool, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        let hasAppeared = isUp && isRouteUp == false
        isRouteUp = isUp
        guard hasAppeared else { return fill(now: now, using: &generator) }
        if standing.rest?.wait.cause == .unreachable { standing.rest = nil }
        let shortened: [Wait.Cause?] = [.backOff, .predecessor]
        for candidate in later.elements where shortened.contains(pending[candidate.token]?.record.wait?.cause) {
            pending[candidate.token]?.record.wait = nil
            refresh(candidate.lane, now: now)
        }
        return fill(now: now, using: &generator)
    }

    /// Somebody else in this daemon has had an answer from the server: it can be reached.
    package mutating func onServerReached(
        now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        if standing.rest?.wait.cause == .unreachable { standing.rest = nil }
        return fill(now: now, using: &generator)
    }

    /// There may be new credentials: they are read again after each refusal, and at each start.
    package mutating func onCredentials(
        now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard standing.rest?.wait.cause == .unauthorised else { return [] }
        return changeStanding { $0.rest?.wait.milliseconds = 0 } + fill(now: now, using: &generator)
    }

    /// An answer to an attempt shows that the server is well again, unless it has wished for a rest in the meantime.
    mutating func hearFromServer(now: UInt64) -> [Directive] {
        guard let rest = standing.rest, rest.wait.end <= now || rest.wait.cause == .unreachable else { return [] }
        let told: [Directive] = rest.wait.cause == .unauthorised ? [.tell(.authorisedAgain)] : []
        return changeStanding { $0.rest = nil } + told
    }

    mutating func take(
        _ reply: Reply, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        switch reply {
        case .accepted, .rejected, .predecessorMissing, .tryAgain:
            return hearFromServer(now: now)
        case .answerLost:
            return []
        case .serverBusy(_, let wished):
            return rest(.serversWish, atLeast: min(wished ?? 0, limits.longestRetryAfter), now: now, using: &generator)
        case .unreachable:
            return rest(.unreachable, atLeast: 0, now: now, using: &generator)
        case .unauthorised:
            let wasKnown = standing.rest?.wait.cause == .unauthorised
            let directives = rest(.unauthorised, atLeast: limits.unauthorisedRest, now: now, using: &generator)
            let isNews = !wasKnown && standing.rest?.wait.cause == .unauthorised
            return directives + (isNews ? [.tell(.unauthorised)] : [])
        }
    }

    private mutating func rest(
        _ cause: Wait.Cause, atLeast least: UInt64, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        let resting = standing.rest.flatMap { $0.wait.end > now ? $0.wait : nil }
        // Several attempts that fail together are one failure.
        let failures = (standing.rest?.failures ?? 0) + (resting == nil ? 1 : 0)
        var policy = RetryPolicy()
        policy.firstDelay = limits.firstRest
        policy.longestDelay = limits.longestRest
        var milliseconds = policy.delay(afterFailures: failures, using: &generator)
        if least > 0 {
            // Not all laptops at the very moment that the server has named.
            let spread = UInt64.random(in: 0...limits.firstRest + least / 10, using: &generator)
            milliseconds = max(milliseconds, least + spread)
        }
        let wait = Wait(since: now, milliseconds: milliseconds, cause: cause)
        if let resting {
            // What the server wishes outranks the rest, refused credentials outrank a network that is gone.
            if resting.cause == cause { guard wait.end > resting.end else { return [] } }
            if resting.cause == .serversWish, cause != .serversWish { return [] }
            if resting.cause == .unauthorised, cause == .unreachable { return [] }
        }
        return changeStanding { $0.rest = OutboxStanding.Rest(wait: wait, failures: failures) }
    }

    /// Changes what has to be remembered, and says so if a restart would make a difference.
    mutating func changeStanding(_ change: (inout OutboxStanding) -> Void) -> [Directive] {
        let before = standing.worthRemembering
        change(&standing)
        return standing.worthRemembering == before ? [] : [.remember(standing.worthRemembering)]
    }
}

extension OutboxStanding {
    /// That nobody could be reached is found out again.
    fileprivate var worthRemembering: OutboxStanding {
        var kept = self
        if rest?.wait.cause == .unreachable { kept.rest = nil }
        return kept
    }
}
