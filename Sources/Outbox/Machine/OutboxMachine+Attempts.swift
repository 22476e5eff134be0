package import CRDT

/// One attempt: recorded, sent, ended.
extension OutboxMachine {
    /// The attempt is durable before its request leaves, with the wait that follows if nothing more is heard of it.
    mutating func begin(
        _ token: MutationToken, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> Directive {
        guard var one = pending[token] else { return .forget(token) }
        one.record.attempts += 1
        one.record.failures += 1
        one.record.wait = wait(of: one, now: now, using: &generator)
        one.record.wait?.cause = .attempt
        accused.remove(token)
        one.isTrial = lastHeard == now
        one.phase = .persisting
        one.isStored = true
        pending[token] = one
        active.append(token)
        return .persist(one.record, begins: true)
    }

    /// The record of an attempt is durable: sends the request, or takes the attempt back where nothing may be sent now.
    ///
    /// - Parameter attempt: as in `persist`; that of another attempt changes nothing.
    package mutating func onPersisted(
        _ token: MutationToken, attempt: Int, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard let one = pending[token], one.phase == .persisting, one.record.attempts == attempt else { return [] }
        guard maySend(now: now), !isPaused(one.entry) else {
            return rollBack(token, now: now) + fill(now: now, using: &generator)
        }
        pending[token]?.phase = .inFlight(began: now, deadline: now + one.policy.attemptDeadline)
        return [.send(one.entry, attempt: attempt)] + fill(now: now, using: &generator)
    }

    /// The record of an attempt could not be made durable: takes it back and lets the whole outbox rest.
    ///
    /// - Parameter attempt: as in `persist`; that of another attempt changes nothing.
    package mutating func onPersistFailed(
        _ token: MutationToken, attempt: Int, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard let one = pending[token], one.phase == .persisting, one.record.attempts == attempt else { return [] }
        // The next one could not be recorded either.
        return rest(.unhealthy, now: now, using: &generator) + rollBack(token, now: now)
            + fill(now: now, using: &generator)
    }

    /// What came of an attempt. An accepted or rejected one counts whenever it comes, anything else only in time.
    ///
    /// - Parameter attempt: as in `send`.
    package mutating func onReply(
        _ token: MutationToken, attempt: Int, _ reply: Reply, now: UInt64,
        using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        var isCurrent = false
        if let one = pending[token], case .inFlight = one.phase { isCurrent = one.record.attempts == attempt }
        var directives: [Directive] = []
        switch reply {
        // An answer holds whenever it comes.
        case .accepted:
            directives += hearFromServer(now: now)
            directives += answer(token, .accepted, "", isCurrent: isCurrent, now: now, using: &generator)
        case .rejected(let reason):
            directives += hearFromServer(now: now)
            directives += answer(token, .rejected, reason, isCurrent: isCurrent, now: now, using: &generator)
        default:
            guard isCurrent else { return [] }
            directives += fail(token, with: reply, now: now, using: &generator)
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

    /// A server that says nothing does not hold the lane.
    mutating func giveUp(
        _ token: MutationToken, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard let one = pending[token] else { return [] }
        let seconds = one.policy.attemptDeadline / 1_000
        let reply = Reply.answerLost(reason: "no answer within \(seconds) s")
        return [.cancel(token, attempt: one.record.attempts)]
            + fail(token, with: reply, ending: .deadlineExceeded, now: now, using: &generator)
    }

    /// Ends an attempt that has become pointless.
    mutating func interrupt(_ token: MutationToken, now: UInt64) -> [Directive] {
        guard let one = pending[token], case .inFlight = one.phase else { return [] }
        let event = event(of: one, .cancelled, status: nil, "not needed any more", now: now)
        return [.cancel(token, attempt: one.record.attempts), .log(event)]
    }

    private mutating func answer(
        _ token: MutationToken, _ verdict: Outcome.Verdict, _ reason: String, isCurrent: Bool, now: UInt64,
        using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard var one = pending[token] else { return [] }
        var directives: [Directive] = []
        let before = one
        let isFirst = one.record.state == .pending
        if isFirst { one.record.failures = 0 }
        one.isJournalBrought = false
        one.record.state = .answered(verdict)
        one.record.lastError = verdict == .rejected ? reason : nil
        one.record.wait = wait(of: one, now: now, using: &generator)
        if isCurrent {
            let ending: AttemptEvent.Ending = verdict == .accepted ? .accepted : .rejected
            var event = event(of: before, ending, status: nil, reason, now: now)
            event.nextAttempt = nil
            directives.append(.log(event))
        } else {
            directives += interrupt(token, now: now)
        }
        one.phase = .idle
        one.lane = lane(of: one.entry, one.record.state)
        active.removeAll { $0 == token }
        pending[token] = one
        leave(before.lane, one.entry, now: now)
        enter(one.lane, one.entry, now: now)
        release(token, now: now)
        directives.append(.persist(one.record, begins: false))
        if isFirst, verdict == .rejected, one.entry.isOwn {
            directives.append(.tell(.rejected(one.entry, reason: reason)))
        }
        return directives
    }

    private mutating func fail(
        _ token: MutationToken, with reply: Reply, ending: AttemptEvent.Ending? = nil, now: UInt64,
        using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard var one = pending[token] else { return [] }
        active.removeAll { $0 == token }
        let failure = Failure(reply)
        let phase = one.phase
        one.phase = .idle
        one.record.lastError = failure.detail
        one.record.wait = wait(of: one, now: now, using: &generator)
        if failure.ending != .predecessorMissing { one.isJournalBrought = false }
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
            // Two that fail tell of the server's illness: nothing is left of what spoke against them.
            if reply.saysUnhealthy, !accused.isEmpty {
                one.failedTrials = 0
                for other in accused { pending[other]?.failedTrials = 0 }
            }
            directives += acquit(now: now) + restAll(after: reply, now: now, using: &generator)
            // It is the whole outbox that waits. What is answered already has no place among the others to keep.
            if one.record.state == .pending { one.record.wait = nil }
            if !reply.isCounted { one.record.failures -= 1 }
        }
        pending[token] = one
        var ended = one
        ended.phase = phase
        directives.append(
            .log(event(of: ended, ending ?? failure.ending, status: failure.status, failure.detail, now: now)))
        directives.append(.persist(one.record, begins: false))
        if one.record.state == .pending, one.entry.isOwn, reply.isCounted,
            one.record.failures == one.policy.stuckAfter
        {
            directives.append(
                .tell(.stuck(one.entry, failures: one.record.failures, lastError: failure.detail)))
        }
        refresh(one.lane, now: now)
        return directives
    }

    /// The server has lost what it had answered: it is asked again before its successor.
    private mutating func hasten(_ missing: MutationToken?, now: UInt64) {
        guard let missing, let one = pending[missing], one.phase == .idle else { return }
        pending[missing]?.record.wait = nil
        refresh(one.lane, now: now)
    }

    /// An attempt that was recorded and never sent.
    private mutating func rollBack(_ token: MutationToken, now: UInt64) -> [Directive] {
        guard var one = pending[token] else { return [] }
        one.record.attempts -= 1
        one.record.failures -= 1
        one.record.wait = nil
        one.phase = .idle
        pending[token] = one
        active.removeAll { $0 == token }
        refresh(one.lane, now: now)
        return [.persist(one.record, begins: false)]
    }
}
