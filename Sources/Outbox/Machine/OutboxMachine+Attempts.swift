package import CRDT

/// Attempts: recorded, sent and ended, those of one exchange together.
extension OutboxMachine {
    /// Each attempt is durable before its request leaves, with the wait that follows if nothing more is heard of it.
    mutating func begin(
        _ tokens: [MutationToken], now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> Directive {
        lastExchange += 1
        exchanges.append(Exchange(number: lastExchange, tokens: tokens))
        var records: [OutboxRecord] = []
        for token in tokens {
            guard var one = pending[token] else { continue }
            one.record.attempts += 1
            one.record.failures += 1
            one.record.wait = wait(of: one, now: now, using: &generator)
            one.record.wait?.cause = .attempt
            accused.remove(token)
            one.isTrial = tokens.count == 1 && lastHeard == now
            one.phase = .persisting
            one.isStored = true
            pending[token] = one
            records.append(one.record)
        }
        for token in tokens { if let lane = pending[token]?.lane { refresh(lane, now: now) } }
        return .begin(lastExchange, records)
    }

    /// The records of an exchange are durable: sends its requests, and takes the attempts back of those that may not be sent
    /// now, and of all behind such a one.
    ///
    /// - Parameter number: as in `persist`; that of an exchange that is no more changes nothing.
    package mutating func onPersisted(
        _ number: ExchangeNumber, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard let exchange = exchanges.first(where: { $0.number == number }), exchange.deadline == nil else {
            return []
        }
        let going = exchange.tokens.compactMap { pending[$0] }.prefix { maySend(now: now) && !isPaused($0.entry) }
        var directives = rollBack(Array(exchange.tokens.dropFirst(going.count)), now: now)
        if let index = exchanges.firstIndex(where: { $0.number == number }) {
            exchanges[index].isShared = going.count > 1
            exchanges[index].deadline = going.map { now + $0.policy.attemptDeadline }.max()
            for one in going { pending[one.entry.token]?.phase = .inFlight(began: now) }
            directives.append(.send(going.map(\.entry), number))
        }
        return directives + fill(now: now, using: &generator)
    }

    /// The records of an exchange could not be made durable: takes the attempts back and lets the whole outbox rest.
    ///
    /// - Parameter number: as in `persist`; that of an exchange that is no more changes nothing.
    package mutating func onPersistFailed(
        _ number: ExchangeNumber, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard let exchange = exchanges.first(where: { $0.number == number }), exchange.deadline == nil else {
            return []
        }
        // The next one could not be recorded either.
        return rest(.unhealthy, now: now, using: &generator) + rollBack(exchange.tokens, now: now)
            + fill(now: now, using: &generator)
    }

    /// What came of an exchange. What was decided counts whenever it comes, anything else only in time.
    ///
    /// - Parameter number: as in `send`.
    package mutating func onReply(
        _ number: ExchangeNumber, _ reply: Reply, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        let isCurrent = exchanges.contains { $0.number == number && $0.deadline != nil }
        var directives: [Directive] = []
        switch reply {
        case .decided(let outcomes):
            directives += hearFromServer(now: now)
            for outcome in outcomes { directives += answer(outcome, in: number, now: now, using: &generator) }
            if isCurrent { directives += setBack(number, now: now) }
        default:
            guard isCurrent else { return [] }
            directives += fail(number, with: reply, now: now, using: &generator)
        }
        return directives + fill(now: now, using: &generator)
    }

    /// The author's journal is with the server, as far as it could be brought: whoever waited for it goes on, once. Who is
    /// then told the same again waits its time, since what is missing is elsewhere.
    package mutating func onJournalBrought(
        _ job: JobID, _ author: ReplicaID, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        for token in pending.keys.sorted() {
            guard let one = pending[token], one.entry.job == job, one.entry.author == author, one.phase == .idle,
                one.record.wait?.cause == .predecessor, !one.isJournalBrought
            else { continue }
            pending[token]?.isJournalBrought = true
            pending[token]?.record.wait = nil
            refresh(one.lane, now: now)
        }
        return fill(now: now, using: &generator)
    }

    /// A server that says nothing does not hold the lanes.
    mutating func giveUp(
        _ exchange: Exchange, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        let policies = exchange.tokens.compactMap { pending[$0]?.policy.attemptDeadline }
        let reply = Reply.answerLost(reason: "no answer within \((policies.max() ?? 0) / 1_000) s")
        return [.cancel(exchange.number)]
            + fail(exchange.number, with: reply, ending: .deadlineExceeded, now: now, using: &generator)
    }

    /// Ends an attempt that has become pointless, and its exchange if nobody else waits for that.
    mutating func interrupt(_ token: MutationToken, now: UInt64) -> [Directive] {
        guard let one = pending[token], let number = leaveExchange(token) else { return [] }
        guard case .inFlight = one.phase else { return [] }
        let isOver = !exchanges.contains { $0.number == number }
        let event = event(of: one, .cancelled, status: nil, "not needed any more", now: now)
        return (isOver ? [.cancel(number)] : []) + [.write(.attempt(event))]
    }

    /// Takes back the attempts of those behind one in its exchange, if that has not left.
    mutating func rollBack(behind token: MutationToken, now: UInt64) -> [Directive] {
        guard let exchange = exchanges.first(where: { $0.tokens.contains(token) }), exchange.deadline == nil else {
            return []
        }
        return rollBack(Array(exchange.tokens.drop { $0 != token }.dropFirst()), now: now)
    }

    /// Attempts that were recorded and never sent.
    private mutating func rollBack(_ tokens: [MutationToken], now: UInt64) -> [Directive] {
        let records = withdrawAttempts(of: tokens, now: now) { $0.attempts -= 1 }
        return records.isEmpty ? [] : [.write(.records(records))]
    }

    /// The server stopped before the rest of an exchange: nothing speaks against those.
    private mutating func setBack(_ number: ExchangeNumber, now: UInt64) -> [Directive] {
        guard let exchange = exchanges.first(where: { $0.number == number }) else { return [] }
        let events = exchange.tokens.compactMap { pending[$0] }.map {
            event(of: $0, .cancelled, status: nil, "the server stopped before it", now: now)
        }
        let records = withdrawAttempts(of: exchange.tokens, now: now) { _ in }
        return events.map { .write(.attempt($0)) } + [.write(.records(records))]
    }

    private mutating func withdrawAttempts(
        of tokens: [MutationToken], now: UInt64, _ change: (inout OutboxRecord) -> Void
    ) -> [OutboxRecord] {
        var records: [OutboxRecord] = []
        for token in tokens {
            leaveExchange(token)
            guard var one = pending[token] else { continue }
            one.record.failures -= 1
            one.record.wait = nil
            change(&one.record)
            pending[token] = one
            records.append(one.record)
        }
        for token in tokens { if let lane = pending[token]?.lane { refresh(lane, now: now) } }
        return records
    }

    private mutating func answer(
        _ outcome: Outcome, in number: ExchangeNumber, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        let token = outcome.token
        guard var one = pending[token] else { return [] }
        var directives: [Directive] = []
        let before = one
        // Withdrawn is an answer, too: nothing of it is left to do.
        let verdict: Outcome.Verdict = outcome.verdict == .accepted ? .accepted : .rejected
        let isFirst = one.record.state == .pending
        if isFirst { one.record.failures = 0 }
        one.isJournalBrought = false
        one.record.state = .answered(verdict)
        one.record.lastError = verdict == .rejected ? outcome.reason : nil
        one.record.wait = wait(of: one, now: now, using: &generator)
        if exchanges.contains(where: { $0.number == number && $0.tokens.contains(token) }) {
            leaveExchange(token)
            let ending: AttemptEvent.Ending = verdict == .accepted ? .accepted : .rejected
            var event = event(of: before, ending, status: nil, outcome.reason, now: now)
            event.nextAttempt = nil
            directives.append(.write(.attempt(event)))
        } else {
            directives += interrupt(token, now: now)
        }
        one.phase = .idle
        one.lane = lane(of: one.entry, one.record.state)
        pending[token] = one
        leave(before.lane, one.entry, now: now)
        enter(one.lane, one.entry, now: now)
        release(token, now: now)
        directives.append(.write(.records([one.record])))
        if isFirst, verdict == .rejected, one.entry.isOwn {
            directives.append(.tell(.rejected(one.entry, reason: outcome.reason)))
        }
        return directives
    }
}
