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
        var directives: [Directive] = []
        if let cause = standing.rest?.wait.cause, cause == .unreachable || cause == .unhealthy {
            directives = changeStanding { $0.rest = nil }
        }
        accused = []
        let shortened: [Wait.Cause?] = [.backOff, .predecessor]
        for candidate in later.elements where shortened.contains(pending[candidate.token]?.record.wait?.cause) {
            pending[candidate.token]?.record.wait = nil
            refresh(candidate.lane, now: now)
        }
        return directives + fill(now: now, using: &generator)
    }

    /// Somebody else in this daemon has had an answer from the server: it can be reached. An ill one may be well again, so the
    /// first request is tried at once: if illness came and went, it is answered before it can be suspected.
    package mutating func onServerReached(
        now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        lastHeard = now
        if standing.rest?.wait.cause == .unreachable { standing.rest = nil }
        var directives: [Directive] = []
        if let wait = standing.rest?.wait, wait.cause == .unhealthy, wait.end > now,
            now >= wait.since + limits.shortestRestEndedByAnswer
        {
            // It stays what it was but for its end: the next one is longer.
            directives = changeStanding { $0.rest?.wait.milliseconds = now - wait.since }
        }
        return directives + fill(now: now, using: &generator)
    }

    /// There may be new credentials: they are read again after each refusal, and at each start.
    package mutating func onCredentials(
        now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard standing.rest?.wait.cause == .unauthorised else { return [] }
        return changeStanding { $0.rest?.wait.milliseconds = 0 } + fill(now: now, using: &generator)
    }

    /// An answer to an attempt shows that the server is well again, unless it has wished for a rest in the meantime. So who
    /// is accused is what makes it fail.
    mutating func hearFromServer(now: UInt64) -> [Directive] {
        lastHeard = now
        accused = []
        guard let rest = standing.rest,
            rest.wait.end <= now || rest.wait.cause == .unreachable || rest.wait.cause == .unhealthy
        else { return [] }
        let told: [Directive] = rest.wait.cause == .unauthorised ? [.tell(.authorisedAgain)] : []
        return changeStanding { $0.rest = nil } + told
    }

    /// The server has failed at this request right after it had answered something else, time and again, and would not do so
    /// if it were ill as a whole. Where there is no other one to try, whichever comes next is the one.
    func isSuspect(_ one: Pending) -> Bool {
        one.record.state == .pending && one.failedTrials >= limits.failuresBeforeSuspicion
    }

    /// One that was not suspected has failed, too: the accused wait with all others, and go first again.
    mutating func acquit(now: UInt64) -> [Directive] {
        let acquitted = accused.sorted()
        accused = []
        var directives: [Directive] = []
        for token in acquitted {
            guard var one = pending[token], one.phase == .idle, one.record.wait?.cause == .backOff else { continue }
            one.record.wait = nil
            pending[token] = one
            refresh(one.lane, now: now)
            directives.append(.write(.records([one.record])))
        }
        return directives
    }

    /// The whole outbox rests: what was said concerns every request.
    mutating func restAll(
        after reply: Reply, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        switch reply {
        case .serverBusy(_, let wished):
            return rest(
                .serverBackOff, atLeast: min(wished ?? 0, limits.longestRetryAfter), now: now, using: &generator)
        case .unreachable: return rest(.unreachable, now: now, using: &generator)
        case .unauthorised:
            let wasKnown = standing.rest?.wait.cause == .unauthorised
            let directives = rest(.unauthorised, atLeast: limits.unauthorisedRest, now: now, using: &generator)
            let isNews = !wasKnown && standing.rest?.wait.cause == .unauthorised
            return directives + (isNews ? [.tell(.unauthorised)] : [])
        case .tryAgain, .answerLost: return rest(.unhealthy, now: now, using: &generator)
        case .decided, .predecessorMissing: return []
        }
    }

    mutating func rest(
        _ cause: Wait.Cause, atLeast least: UInt64 = 0, now: UInt64, using generator: inout some RandomNumberGenerator
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
            if resting.cause == .serverBackOff, cause != .serverBackOff { return [] }
            if resting.cause == .unauthorised, cause == .unreachable || cause == .unhealthy { return [] }
        }
        return changeStanding { $0.rest = OutboxStanding.Rest(wait: wait, failures: failures) }
    }

    /// Changes what has to be remembered, and says so if a restart would make a difference.
    mutating func changeStanding(_ change: (inout OutboxStanding) -> Void) -> [Directive] {
        let before = standing.worthRemembering
        change(&standing)
        return standing.worthRemembering == before ? [] : [.write(.standing(standing.worthRemembering))]
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
