import CRDT

/// Which request of a lane may go, and when.
extension OutboxMachine {
    func order(of request: MutationRequest) -> LaneOrder {
        // Of a kind that a newer device has brought nothing is known: the oldest first is right for any.
        kinds[request.kind]?.laneOrder ?? .firstInFirstOut
    }

    /// Where it stands: with its author's others, or alone once it is answered.
    func lane(of entry: OutboxEntry, _ state: OutboxRecord.State) -> LaneKey {
        let isAlone = state != .pending || order(of: entry.request) == .concurrent
        return LaneKey(id: entry.lane, author: entry.author, alone: isAlone ? entry.token : nil)
    }

    mutating func enter(_ key: LaneKey, _ entry: OutboxEntry, now: UInt64) {
        let member = Lane.Member(sequence: entry.sequence, token: entry.token)
        let order = order(of: entry.request)
        lanes[key, default: Lane(order: order)].members.insert(member)
        noteShown(entry.token)
        refresh(key, now: now)
    }

    mutating func leave(_ key: LaneKey, _ entry: OutboxEntry, now: UInt64) {
        lanes[key]?.members.remove(Lane.Member(sequence: entry.sequence, token: entry.token))
        refresh(key, now: now)
    }

    /// Puts the head of a lane where it belongs now: among those that may go, those that wait, or nowhere.
    mutating func refresh(_ key: LaneKey, now: UInt64) {
        guard let lane = lanes[key] else { return }
        switch lane.candidacy {
        case .none: break
        case .ready(let candidate): ready.remove(candidate)
        case .later(let candidate): later.remove(candidate)
        }
        guard let token = head(of: key), let head = pending[token] else {
            lanes[key] = nil
            return
        }
        let candidacy = candidacy(of: head, in: key, now: now)
        lanes[key]?.candidacy = candidacy
    }

    /// The only one of a lane that may go: the one whose turn it is, or whom that has to follow within the lane. What a
    /// renewed replica takes over from a branch of its old journal stands behind what it has asked for since.
    func head(of key: LaneKey) -> MutationToken? {
        lanes[key]?.head.map { firstBefore($0) { pending[$0]?.lane == key } }
    }

    /// Of those that have to go before `token`, one after the other and through whatever lanes, the first that stands here;
    /// the token itself when there is none.
    func firstBefore(_ token: MutationToken, where isHere: (MutationToken) -> Bool) -> MutationToken {
        var (first, next) = (token, token)
        for _ in 0..<Self.longestChain {
            guard let after = pending[next].flatMap(blocker) else { return first }
            next = after
            if isHere(after) { first = after }
        }
        // Longer than any that people make, or a circle of a faulty device.
        return token
    }

    /// Whether it has to follow itself, through whatever others.
    private func isInCircle(_ token: MutationToken) -> Bool {
        var next = token
        for _ in 0..<Self.longestChain {
            guard let after = pending[next].flatMap(blocker) else { return false }
            if after == token { return true }
            next = after
        }
        return false
    }

    private static let longestChain = 256

    private mutating func candidacy(of head: Pending, in key: LaneKey, now: UInt64) -> Lane.Candidacy {
        guard !isBusy(key), !head.isDropping, !isPaused(head.entry), !isBlocked(head) else { return .none }
        if let end = head.record.wait?.end, end > now {
            let candidate = DueCandidate(due: end, token: head.entry.token, lane: key)
            later.insert(candidate)
            return .later(candidate)
        }
        let candidate = Candidate(
            priority: head.entry.request.priority, created: head.entry.created, token: head.entry.token, lane: key)
        ready.insert(candidate)
        return .ready(candidate)
    }

    /// Whether one of the lane is on its way, its head or what was its head when it went.
    func isBusy(_ key: LaneKey) -> Bool {
        exchanges.contains { $0.tokens.contains { pending[$0]?.lane == key } }
    }

    /// Pauses are for what was asked for here: a gateway goes on for the others.
    func isPaused(_ entry: OutboxEntry) -> Bool {
        entry.isOwn && (standing.isPaused || standing.pausedLanes.contains(entry.lane))
    }

    /// Its predecessor, if that is here and unanswered in a lane of another author's name: a renewed replica goes on with
    /// what it began under its old one.
    func blocker(of head: Pending) -> MutationToken? {
        guard head.record.state == .pending, let after = head.entry.request.after,
            pending[after]?.record.state == .pending
        else { return nil }
        return after
    }

    private mutating func isBlocked(_ head: Pending) -> Bool {
        // What a faulty or dishonest device has asked for in a circle goes, so that the server can say what it thinks of its author.
        guard let after = blocker(of: head), !isInCircle(head.entry.token) else { return false }
        if !(followers[after] ?? []).contains(head.lane) { followers[after, default: []].append(head.lane) }
        return true
    }

    /// Nobody has to wait for this one any more.
    mutating func release(_ token: MutationToken, now: UInt64) {
        for key in followers.removeValue(forKey: token) ?? [] { refresh(key, now: now) }
    }

    mutating func refreshAll(now: UInt64) {
        for key in lanes.keys.sorted() { refresh(key, now: now) }
    }

    /// Takes a request out altogether.
    mutating func remove(_ token: MutationToken, now: UInt64) {
        guard let gone = pending.removeValue(forKey: token) else { return }
        accused.remove(token)
        leave(gone.lane, gone.entry, now: now)
        noteShown(token)
        release(token, now: now)
    }
}
