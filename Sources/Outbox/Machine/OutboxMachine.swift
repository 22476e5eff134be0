package import CRDT

/// Decides when which request is sent to the server, sent again, or left to a person (rule R8).
///
/// The requests themselves stand in journals; what this value has to remember comes out of it as records, so that it can be
/// made again at any moment. Times are milliseconds since the boot, suspend included (CLOCK_BOOTTIME): they never go
/// back and never step, which corrected time does when a server is met.
package struct OutboxMachine: Sendable {
    let limits: OutboxLimits
    let kinds: MutationKinds

    /// Pauses and the rest of the whole outbox as they are, also what a restart would find out again.
    package internal(set) var standing: OutboxStanding
    /// Nil until the shell has said so for the first time.
    var isRouteUp: Bool?
    var pending: [MutationToken: Pending] = [:]
    /// Rejected for good and not yet taken note of.
    var rejected: [MutationToken: Rejection] = [:]
    var lanes: [LaneKey: Lane] = [:]
    /// The heads that may go at once, and those that may go later.
    var ready = SortedList<Candidate>()
    var later = SortedList<DueCandidate>()
    /// Being recorded or under way.
    var exchanges: [Exchange] = []
    var lastExchange: ExchangeNumber = 0
    /// What is not to be shown over published state although that does not say so yet: see `Overlay`. Kept, since every
    /// reading of a job asks for it, however long the queue is.
    package private(set) var notShown: Set<MutationToken> = []
    /// The requests that fail although the server answers others: they wait alone while the next one is tried. If that
    /// fails, too, it is the server that is ill, and the order holds.
    package internal(set) var accused: Set<MutationToken> = []
    /// When the server last answered anything in its own words.
    var lastHeard: UInt64?
    /// The lanes whose head waits for a request of another lane.
    var followers: [MutationToken: [LaneKey]] = [:]

    /// A request without an outcome in published state.
    struct Pending: Sendable {
        var entry: OutboxEntry
        let policy: RetryPolicy
        var lane: LaneKey
        var record: OutboxRecord
        /// Whether the store may have a record of it.
        var isStored: Bool
        var phase = Phase.idle
        /// The author's journal was brought for it, and the server has not answered anything else since.
        var isJournalBrought = false
        /// Its attempt began at the very moment when the server had answered something else.
        var isTrial = false
        /// How many such attempts have failed as those of an ill server do. Illness that comes and goes adds none: whoever is
        /// tried while the server is well is answered.
        var failedTrials = 0
        /// A person drops it; its withdrawal is not durable yet.
        var isDropping = false
    }

    enum Phase: Hashable, Sendable {
        case idle
        case persisting
        case inFlight(began: UInt64)
    }

    struct Rejection: Sendable {
        let entry: OutboxEntry
        let record: OutboxRecord
    }

    /// - Parameter standing: as it was last to be remembered.
    package init(
        standing: OutboxStanding = OutboxStanding(), limits: OutboxLimits = OutboxLimits(), kinds: MutationKinds = .all
    ) {
        self.standing = standing
        self.limits = limits
        self.kinds = kinds
    }

    /// When `onTimer` wants to be called; nil while nothing can come of it.
    package var nextDeadline: UInt64? {
        var deadlines = exchanges.compactMap(\.deadline)
        if isRouteUp == true, let due = nextDue { deadlines.append(max(due, standing.rest?.wait.end ?? 0)) }
        return deadlines.min()
    }

    /// Gives up attempts that have taken too long, and begins what is due. A call before `nextDeadline` does no harm.
    package mutating func onTimer(now: UInt64, using generator: inout some RandomNumberGenerator) -> [Directive] {
        var directives: [Directive] = []
        for exchange in exchanges where exchange.deadline.map({ $0 <= now }) ?? false {
            directives += giveUp(exchange, now: now, using: &generator)
        }
        return directives + fill(now: now, using: &generator)
    }

    /// Zero for at once; nil while there is nothing to begin, or no room for it.
    private var nextDue: UInt64? {
        if let next { return hasRoom(for: next) ? 0 : nil }
        return exchanges.count < mostActive ? later.last?.due : nil
    }

    /// After an illness of the server one attempt goes ahead of the others.
    var mostActive: Int {
        standing.rest == nil ? limits.inFlight : 1
    }

    /// Who goes next, of those that may go: the first by priority and age. Beside an accused one it is the one that has
    /// failed least, so that several which make the server fail do not stand surety for each other.
    private var next: Candidate? {
        guard !accused.isEmpty, let least = ready.elements.map(failures).min() else { return ready.last }
        return ready.elements.last { failures(of: $0) == least }
    }

    private func failures(of candidate: Candidate) -> Int { pending[candidate.token]?.record.failures ?? 0 }

    /// What has an order goes in one exchange at a time, whatever its lane: of two that are under way together the second may
    /// be accepted and the first be lost.
    private func hasRoom(for candidate: Candidate) -> Bool {
        guard exchanges.count < mostActive else { return false }
        return candidate.lane.alone != nil
            || !exchanges.contains { $0.tokens.contains { pending[$0].map { $0.lane.alone == nil } ?? false } }
    }

    func maySend(now: UInt64) -> Bool {
        isRouteUp == true && standing.rest.map { $0.wait.end <= now } ?? true
    }

    /// To be called when a request has come, has gone, or means something else to people.
    mutating func noteShown(_ token: MutationToken) {
        if let one = pending[token], one.isDropping || one.record.state == .answered(.rejected) {
            notShown.insert(token)
        } else {
            notShown.remove(token)
        }
    }

    /// Begins attempts as long as there is room.
    mutating func fill(now: UInt64, using generator: inout some RandomNumberGenerator) -> [Directive] {
        while let next = later.last, next.due <= now { refresh(next.lane, now: now) }
        var directives: [Directive] = []
        while maySend(now: now), let best = next, hasRoom(for: best) {
            directives.append(begin(company(of: best, now: now), now: now, using: &generator))
        }
        return directives
    }
}
