import CRDT

/// Exchanges of which nothing but a failure came, and whose failure that is.
extension OutboxMachine {
    mutating func fail(
        _ number: ExchangeNumber, with reply: Reply, ending: AttemptEvent.Ending? = nil, now: UInt64,
        using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard let exchange = exchanges.first(where: { $0.number == number }) else { return [] }
        let ended = exchange.tokens.compactMap { pending[$0] }
        for one in ended { leaveExchange(one.entry.token) }
        var directives: [Directive] = []
        if exchange.isShared {
            directives = failTogether(ended, with: reply, now: now, using: &generator)
        } else if let one = ended.first {
            directives = failAlone(one, with: reply, now: now, using: &generator)
        }
        let failure = Failure(reply)
        var records: [OutboxRecord] = []
        for before in ended {
            guard let one = pending[before.entry.token] else { continue }
            var logged = one
            logged.phase = before.phase
            let attempt = event(
                of: logged, ending ?? failure.ending, status: failure.status, failure.detail, now: now)
            directives.append(.write(.attempt(attempt)))
            records.append(one.record)
        }
        directives.append(.write(.records(records)))
        for one in ended.compactMap({ pending[$0.entry.token] }) {
            if one.record.state == .pending, one.entry.isOwn, reply.isCounted,
                one.record.failures == one.policy.stuckAfter
            {
                directives.append(
                    .tell(.stuck(one.entry, failures: one.record.failures, lastError: failure.detail)))
            }
            refresh(one.lane, now: now)
        }
        return directives
    }

    /// Whose fault it was nobody can tell. Where it may be that of one, each is counted one failure, and goes alone from now on:
    /// what speaks against it then is its own.
    private mutating func failTogether(
        _ ended: [Pending], with reply: Reply, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        for var one in ended {
            one.phase = .idle
            one.record.lastError = Failure(reply).detail
            one.record.wait = nil
            if !reply.mayBeFaultOfOne { one.record.failures -= 1 }
            pending[one.entry.token] = one
        }
        return reply.isOfRequest ? hearFromServer(now: now) : rest(after: reply, now: now, using: &generator)
    }

    private mutating func failAlone(
        _ ended: Pending, with reply: Reply, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        var one = ended
        let token = one.entry.token
        one.phase = .idle
        one.record.lastError = Failure(reply).detail
        one.record.wait = wait(of: one, now: now, using: &generator)
        if Failure(reply).ending != .predecessorMissing { one.isJournalBrought = false }
        var directives: [Directive] = []
        if one.isTrial, reply.saysUnhealthy { one.failedTrials += 1 }
        if reply.isOfRequest {
            directives += hearFromServer(now: now)
            one.failedTrials = 0
            if case .predecessorMissing(let missing) = reply {
                one.record.wait?.cause = .predecessor
                directives.append(.bringJournal(one.entry.job, one.entry.author))
                hasten(missing ?? one.entry.request.after, now: now)
            }
        } else if reply.saysUnhealthy, isSuspect(one) {
            accused.insert(token)
        } else {
            if reply.saysUnhealthy, !accused.isEmpty { one.failedTrials = 0 }
            directives += rest(after: reply, now: now, using: &generator)
            // It is the whole outbox that waits. What is answered already has no place among the others to keep.
            if one.record.state == .pending { one.record.wait = nil }
            if !reply.isCounted { one.record.failures -= 1 }
        }
        pending[token] = one
        return directives
    }

    /// Everybody waits, the accused, too. Two that fail tell of the server's illness: nothing is left of what spoke against them.
    private mutating func rest(
        after reply: Reply, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        if reply.saysUnhealthy { for other in accused { pending[other]?.failedTrials = 0 } }
        return acquit(now: now) + restAll(after: reply, now: now, using: &generator)
    }

    /// The server has lost what it had answered: it is asked again before its successor.
    private mutating func hasten(_ missing: MutationToken?, now: UInt64) {
        guard let missing, let one = pending[missing], one.phase == .idle else { return }
        pending[missing]?.record.wait = nil
        refresh(one.lane, now: now)
    }
}

extension OutboxMachine.Reply {
    /// Whether one of several that went together may be what it was about. A server that has too much to do says so
    /// of none; another error with `Retry-After` may be about one.
    fileprivate var mayBeFaultOfOne: Bool {
        switch self {
        case .serverBusy(429, _), .serverBusy(503, _): false
        default: isCounted
        }
    }
}
