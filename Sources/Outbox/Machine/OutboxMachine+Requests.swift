package import CRDT

/// What the journals and the channel say.
extension OutboxMachine {
    /// The first stimulus.
    ///
    /// - Parameters:
    ///   - entries: the requests of the journals that nobody has withdrawn and that have no outcome or a record.
    ///   - records: all of the store.
    ///   - outcomes: those of the entries in published state.
    package mutating func onStart(
        entries: [OutboxEntry], records: [OutboxRecord], outcomes: [Outcome], now: UInt64,
        using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        if let wait = standing.rest?.wait { standing.rest?.wait = wait.continued(now: now) }
        var remembered = Dictionary(records.map { ($0.token, $0) }, uniquingKeysWith: { first, _ in first })
        var directives: [Directive] = []
        for entry in entries {
            // Two laptops may have issued it again while they were apart.
            guard pending[entry.token] == nil, rejected[entry.token] == nil else {
                move(entry, now: now)
                continue
            }
            var record = remembered.removeValue(forKey: entry.token)
            directives += endCrashedAttempt(of: &record, now: now)
            add(entry, record: record, now: now)
        }
        // Withdrawn, or settled by another device, just before the end.
        directives += remembered.keys.sorted().map { Directive.write(.forget($0)) }
        for outcome in outcomes { directives += conclude(outcome, now: now) }
        return directives + fill(now: now, using: &generator)
    }

    /// A request is in a journal, durably. The store has made a record of an own one in the same transaction.
    package mutating func onRequest(
        _ entry: OutboxEntry, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        if rejected[entry.token] != nil { return [] }
        if pending[entry.token] == nil {
            add(entry, record: nil, now: now)
        } else {
            move(entry, now: now)
        }
        return fill(now: now, using: &generator)
    }

    /// Published state shows what came of a request.
    package mutating func onOutcome(
        _ outcome: Outcome, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        conclude(outcome, now: now) + fill(now: now, using: &generator)
    }

    /// Its author has taken it back, durably; here or elsewhere.
    package mutating func onWithdrawn(
        _ token: MutationToken, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard let gone = pending[token] else { return [] }
        let directives = interrupt(token, now: now) + (gone.isStored ? [.write(.forget(token))] : [])
        remove(token, now: now)
        return directives + fill(now: now, using: &generator)
    }

    /// The daemon ended while an attempt was under way. That is like an answer that was lost: the whole outbox rests, so that
    /// the order holds, unless it was this request again and again. Then it waits alone, and the others go on.
    private mutating func endCrashedAttempt(of record: inout OutboxRecord?, now: UInt64) -> [Directive] {
        guard var one = record, var wait = one.wait, wait.cause == .attempt else { return [] }
        let detail = "the daemon stopped in the middle of an attempt"
        let began = min(wait.since, now)
        wait = wait.continued(now: now)
        var directives: [Directive] = []
        if one.state == .pending, one.failures < limits.failuresBeforeSuspicion {
            one.wait = nil
            wait.cause = .unhealthy
            if standing.rest.map({ $0.wait.end < wait.end }) ?? true {
                let rest = OutboxStanding.Rest(wait: wait, failures: one.failures)
                directives += changeStanding { $0.rest = rest }
            }
        } else {
            wait.cause = one.state == .pending ? .backOff : .confirmation
            one.wait = wait
        }
        if one.state == .pending { one.lastError = detail }
        let event = AttemptEvent(
            token: one.token, attempt: one.attempts, began: began, nextAttempt: wait.end, durationMilliseconds: 0,
            outcome: .interrupted, status: nil, detail: detail)
        record = one
        return directives + [.write(.attempt(event)), .write(.records([one]))]
    }

    private mutating func add(_ entry: OutboxEntry, record: OutboxRecord?, now: UInt64) {
        var known = record ?? OutboxRecord(token: entry.token)
        if let wait = known.wait { known.wait = wait.continued(now: now) }
        if case .rejected = known.state {
            rejected[entry.token] = Rejection(entry: entry, record: known)
            return
        }
        let lane = lane(of: entry, known.state)
        pending[entry.token] = Pending(
            entry: entry, policy: kinds[entry.request.kind]?.retryPolicy ?? .standard, lane: lane, record: known,
            isStored: entry.isOwn || record != nil)
        enter(lane, entry, now: now)
    }

    /// A renewed replica has issued its request again in its new journal.
    private mutating func move(_ entry: OutboxEntry, now: UInt64) {
        guard let known = pending[entry.token], known.entry != entry else { return }
        let lane = lane(of: entry, known.record.state)
        // First: whoever looks for the head of the lane that it leaves must not find it there.
        pending[entry.token]?.entry = entry
        pending[entry.token]?.lane = lane
        leave(known.lane, known.entry, now: now)
        enter(lane, entry, now: now)
    }

    private mutating func conclude(_ outcome: Outcome, now: UInt64) -> [Directive] {
        guard let known = pending[outcome.token] else { return [] }
        var directives = interrupt(outcome.token, now: now)
        remove(outcome.token, now: now)
        // What somebody at the office has taken back is told like what it has rejected.
        guard outcome.verdict != .accepted, known.entry.isOwn, !known.isDropping else {
            return directives + (known.isStored ? [.write(.forget(outcome.token))] : [])
        }
        var record = known.record
        record.state = .rejected(outcome.reason)
        record.lastError = outcome.reason
        record.wait = nil
        rejected[outcome.token] = Rejection(entry: known.entry, record: record)
        directives.append(.write(.records([record])))
        if known.record.state != .answered(.rejected) {
            directives.append(.tell(.rejected(known.entry, reason: outcome.reason)))
        }
        return directives
    }
}
