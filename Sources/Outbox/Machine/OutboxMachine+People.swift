package import CRDT

/// What people at this device see of the queue and do to it.
extension OutboxMachine {
    /// Tries a request now, and the whole outbox if it only backs off.
    package mutating func onRetry(
        _ token: MutationToken, now: UInt64, using generator: inout some RandomNumberGenerator
    ) throws(OutboxRefusal) -> [Directive] {
        if rejected[token] != nil { throw .rejected(token) }
        guard let one = pending[token] else { throw .unknown(token) }
        pending[token]?.record.wait = nil
        var directives: [Directive] = []
        // Whom the server has asked for a rest gives it one: the answer would be the same.
        if standing.rest?.wait.cause != .serverBackOff {
            directives = changeStanding { $0.rest?.wait.milliseconds = 0 }
        }
        refresh(one.lane, now: now)
        return directives + fill(now: now, using: &generator)
    }

    /// Gives a request up, or takes note of a rejection.
    package mutating func onDrop(
        _ token: MutationToken, now: UInt64, using generator: inout some RandomNumberGenerator
    ) throws(OutboxRefusal) -> [Directive] {
        if rejected.removeValue(forKey: token) != nil { return [.write(.forget(token))] }
        guard let one = pending[token] else { throw .unknown(token) }
        guard one.entry.isOwn else { throw .notOwn(token) }
        guard one.record.state == .pending else { throw .answered(token) }
        guard !one.isDropping else { return [] }
        // First: who follows it in an exchange that has not left must not overtake it, should it stand after all.
        let directives = rollBack(behind: token, now: now) + interrupt(token, now: now)
        pending[token]?.isDropping = true
        noteShown(token)
        refresh(one.lane, now: now)
        return directives + [.withdraw(one.entry.job, token)] + fill(now: now, using: &generator)
    }

    /// The store could not take the withdrawal: the request stands.
    package mutating func onWithdrawFailed(
        _ token: MutationToken, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        guard let one = pending[token], one.isDropping else { return [] }
        pending[token]?.isDropping = false
        noteShown(token)
        refresh(one.lane, now: now)
        return fill(now: now, using: &generator)
    }

    /// Sends nothing of this device's own, or of a lane of it, until `onResume`. What is under way goes on.
    package mutating func onPause(
        _ lane: LaneID?, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        let directives = changeStanding { standing in
            if let lane { standing.pausedLanes.insert(lane) } else { standing.isPaused = true }
        }
        refreshAll(now: now)
        return directives + fill(now: now, using: &generator)
    }

    /// - Parameter lane: nil ends every pause, and tries credentials that were refused.
    package mutating func onResume(
        _ lane: LaneID?, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> [Directive] {
        var directives = changeStanding { standing in
            if let lane {
                standing.pausedLanes.remove(lane)
            } else {
                standing.isPaused = false
                standing.pausedLanes = []
            }
        }
        refreshAll(now: now)
        if lane == nil { directives += onCredentials(now: now, using: &generator) }
        return directives + fill(now: now, using: &generator)
    }

    /// Everything that waits, in the order in which it would go if nothing waited; then what was rejected.
    package var queue: [QueuedMutation] {
        let waiting = tokensAsTheyGo().compactMap { pending[$0] }.map {
            QueuedMutation(entry: $0.entry, record: $0.record, state: state(of: $0))
        }
        let listed = rejected.values.map { QueuedMutation(entry: $0.entry, record: $0.record, state: .rejected) }
        return waiting + listed.sorted()
    }

    /// As if each were accepted at once: of a lane nothing goes before its head, whatever its priority.
    ///
    /// It is the order of `company`, which a test compares. That one begins with the few that may go now, keeps to what waits,
    /// pauses and limits let go together, and so looks into a lane no further than 32 requests deep. This one lists everything,
    /// and takes the members away as it comes by: a lane of 10,000 would else be searched from its beginning for each of them.
    private func tokensAsTheyGo() -> [MutationToken] {
        var rest = lanes.mapValues { lane in
            let tokens = lane.members.elements.map(\.token)
            return lane.order == .lastInFirstOut ? tokens : tokens.reversed()
        }
        var heads = SortedList<Candidate>()
        var listed: Set<MutationToken> = []
        var held: [MutationToken: [LaneKey]] = [:]
        func nextHead(of key: LaneKey) {
            guard let turn = rest[key]?.last else { return }
            let token = firstBefore(turn) { !listed.contains($0) && pending[$0]?.lane == key }
            guard let head = pending[token], let place = rest[key]?.lastIndex(of: token) else { return }
            if let after = blocker(of: head), !listed.contains(after) { return held[after, default: []].append(key) }
            rest[key]?.remove(at: place)
            heads.insert(
                Candidate(
                    priority: head.entry.request.priority, created: head.entry.created, token: token, lane: key))
        }
        for key in lanes.keys { nextHead(of: key) }
        var tokens: [MutationToken] = []
        while let best = heads.popLast() {
            tokens.append(best.token)
            listed.insert(best.token)
            for key in [best.lane] + (held.removeValue(forKey: best.token) ?? []) { nextHead(of: key) }
        }
        // Whose predecessors wait for each other, which only a faulty device can ask for.
        return tokens + pending.keys.filter { !listed.contains($0) }.sorted()
    }

    /// How much of what was asked for here waits for the server, and how much for a person: to end a pause, or to see that it was
    /// rejected.
    package var ownCounts: (pending: Int, paused: Int, rejected: Int) {
        let own = pending.values.count { $0.entry.isOwn }
        let paused = pending.values.count { $0.entry.isOwn && state(of: $0) == .paused }
        return (own - paused, paused, rejected.values.count { $0.entry.isOwn })
    }

    private func state(of one: Pending) -> QueuedMutation.State {
        if one.isDropping { return .dropping }
        if case .answered = one.record.state { return .answered }
        if one.phase != .idle { return .sending }
        if isPaused(one.entry) { return .paused }
        guard head(of: one.lane) == one.entry.token, !isBusy(one.lane), blocker(of: one) == nil else {
            return .behind
        }
        return one.record.wait == nil && standing.rest == nil ? .ready : .waiting
    }
}

/// A line of the queue.
package struct QueuedMutation: Hashable, Sendable, Comparable {
    /// What was asked for, by whom and where.
    package let entry: OutboxEntry
    /// Its attempts, its own wait and the last error.
    package let record: OutboxRecord
    /// What it waits for, if for anything.
    package let state: State

    /// Where a request of the queue stands; the raw values are shown to people.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// Goes as soon as there is a route and room.
        case ready
        /// Its last attempt failed, or another's did in a way that concerns all; the next one is due later.
        case waiting
        case sending
        /// Another of its lane goes first.
        case behind
        case paused
        /// Answered; published state does not show it yet.
        case answered
        case dropping
        /// For good; listed until it is dropped.
        case rejected
    }

    /// Orders by priority, the highest first; then by age, place in the journal and token.
    package static func < (left: QueuedMutation, right: QueuedMutation) -> Bool {
        let (one, other) = (left.entry, right.entry)
        if one.request.priority != other.request.priority { return one.request.priority > other.request.priority }
        if one.created != other.created { return one.created < other.created }
        if one.sequence != other.sequence { return one.sequence < other.sequence }
        return one.token < other.token
    }
}
