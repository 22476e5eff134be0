import CRDT

extension OutboxMachine {
    /// Counts the exchanges of one machine, from 1.
    package typealias ExchangeNumber = Int

    /// Requests whose attempts are recorded, sent and answered together.
    struct Exchange: Sendable {
        let number: ExchangeNumber
        /// In the order in which the server decides; who has become pointless since is not among them.
        var tokens: [MutationToken]
        /// Several were sent.
        var isShared = false
        /// When it is given up; nil while its records are not durable.
        var deadline: UInt64?
    }

    /// - Returns: the exchange that it was in. That is over when it was the last one.
    @discardableResult
    mutating func leaveExchange(_ token: MutationToken) -> ExchangeNumber? {
        guard let index = exchanges.firstIndex(where: { $0.tokens.contains(token) }) else { return nil }
        let number = exchanges[index].number
        exchanges[index].tokens.removeAll { $0 == token }
        if exchanges[index].tokens.isEmpty { exchanges.remove(at: index) }
        pending[token]?.phase = .idle
        return number
    }

    /// Who goes in one exchange: the first, and those that would go after it one by one if each were answered at once.
    ///
    /// What has failed before goes alone, and so does everything while the server's health is in doubt, what has no order, and
    /// what items have to be brought for.
    func company(of first: Candidate, now: UInt64) -> [MutationToken] {
        guard standing.rest == nil, accused.isEmpty, mayShare(first) else { return [first.token] }
        var chosen = Chosen()
        var (place, bytes) = (ready.elements.count, 0)
        var uncovered = SortedList<Candidate>()
        var best = Optional(first)
        while let candidate = best, mayShare(candidate), chosen.tokens.count < limits.inExchange {
            bytes += pending[candidate.token]?.entry.request.payload.count ?? 0
            guard chosen.tokens.isEmpty || bytes <= limits.exchangeBytes else { break }
            chosen.add(candidate.token)
            for key in [candidate.lane] + (followers[candidate.token] ?? []) + chosen.heldBy(candidate.token) {
                if let head = head(of: key, behind: &chosen, now: now) { uncovered.insert(head) }
            }
            while place > 0, chosen.contains(ready.elements[place - 1].token) { place -= 1 }
            while let last = uncovered.last, chosen.contains(last.token) { _ = uncovered.popLast() }
            best = [place > 0 ? ready.elements[place - 1] : nil, uncovered.last].compactMap(\.self).max()
        }
        return chosen.tokens
    }

    /// Those that go together, and the lanes that wait for one that is not among them.
    private struct Chosen {
        private(set) var tokens: [MutationToken] = []
        private var known: Set<MutationToken> = []
        private var held: [MutationToken: [LaneKey]] = [:]

        func contains(_ token: MutationToken) -> Bool { known.contains(token) }

        mutating func add(_ token: MutationToken) {
            tokens.append(token)
            known.insert(token)
        }

        mutating func hold(_ key: LaneKey, until token: MutationToken) { held[token, default: []].append(key) }
        mutating func heldBy(_ token: MutationToken) -> [LaneKey] { held.removeValue(forKey: token) ?? [] }
    }

    private func mayShare(_ candidate: Candidate) -> Bool {
        guard candidate.lane.alone == nil, let one = pending[candidate.token] else { return false }
        return one.record.failures == 0 && kinds[one.entry.request.kind]?.needsItems != true
    }

    /// Who may go of a lane when the chosen are answered; nil when nobody may yet.
    private func head(of key: LaneKey, behind chosen: inout Chosen, now: UInt64) -> Candidate? {
        guard let lane = lanes[key] else { return nil }
        let members = lane.members.elements
        let turn =
            lane.order == .lastInFirstOut
            ? members.last { !chosen.contains($0.token) } : members.first { !chosen.contains($0.token) }
        guard let turn else { return nil }
        let token = firstBefore(turn.token) { !chosen.contains($0) && pending[$0]?.lane == key }
        guard let head = pending[token], head.phase == .idle, !head.isDropping, !isPaused(head.entry),
            head.record.wait.map({ $0.end <= now }) ?? true
        else { return nil }
        if let after = blocker(of: head), !chosen.contains(after) {
            chosen.hold(key, until: after)
            return nil
        }
        return Candidate(
            priority: head.entry.request.priority, created: head.entry.created, token: token, lane: key)
    }
}
