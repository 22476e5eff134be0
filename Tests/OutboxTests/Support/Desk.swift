import CRDT
import Outbox
import Testing

/// One outbox with a store that writes at once and a server that says what the test says.
struct Desk {
    var machine: OutboxMachine
    var generator = SeededGenerator(seed: 1)
    var now: UInt64 = 1_000_000
    /// What the store holds, and what the journals do.
    var records: [MutationToken: OutboxRecord] = [:]
    var standing = OutboxStanding()
    var journals: [OutboxEntry] = []
    private var newest: [String: MutationToken] = [:]
    /// What was carried out, in order.
    var sent: [MutationToken] = []
    /// The requests of each exchange, the exchange that each request was last in, and what the server has said so far of those
    /// that are under way.
    var exchanges: [OutboxMachine.ExchangeNumber: [MutationToken]] = [:]
    var exchange: [MutationToken: OutboxMachine.ExchangeNumber] = [:]
    private var said: [OutboxMachine.ExchangeNumber: [MutationToken: Outcome]] = [:]
    /// Whether it has been published behind the answer.
    private var publishing: Set<MutationToken> = []
    var cancelled: [MutationToken] = []
    var withdrawals: [MutationToken] = []
    var brought: [ReplicaID] = []
    var told: [OutboxMachine.Notice] = []
    var log: [AttemptEvent] = []
    /// Exchanges whose records are not durable yet, while the store is slow.
    var storeIsSlow = false
    var unwritten: [(exchange: OutboxMachine.ExchangeNumber, records: [OutboxRecord])] = []

    static let anna = ReplicaID(0xA)
    static let bert = ReplicaID(0xB)
    static let job = JobID("smith") ?? JobID(ItemID.job)

    init(routeIsUp: Bool = true, limits: OutboxLimits = OutboxLimits()) {
        machine = OutboxMachine(limits: limits, kinds: .tested)
        start()
        route(routeIsUp)
    }

    mutating func carryOut(_ directives: [OutboxMachine.Directive]) {
        for directive in directives {
            switch directive {
            case .begin(let begun, let written):
                if storeIsSlow {
                    unwritten.append((begun, written))
                } else {
                    for record in written { records[record.token] = record }
                    carryOut(machine.onPersisted(begun, now: now, using: &generator))
                }
            case .write(.records(let written)): for record in written { records[record.token] = record }
            case .write(.forget(let token)): records[token] = nil
            case .write(.standing(let standing)): self.standing = standing
            case .send(let entries, let number):
                sent += entries.map(\.token)
                exchanges[number] = entries.map(\.token)
                for entry in entries { exchange[entry.token] = number }
            case .cancel(let number): cancelled += exchanges[number] ?? []
            case .bringJournal(_, let author): brought.append(author)
            case .withdraw(_, let token): withdrawals.append(token)
            case .write(.attempt(let event)): log.append(event)
            case .tell(let notice): told.append(notice)
            }
        }
    }

    mutating func writeAll() {
        let waiting = unwritten
        unwritten = []
        for (exchange, written) in waiting {
            for record in written { records[record.token] = record }
            carryOut(machine.onPersisted(exchange, now: now, using: &generator))
        }
    }

    private mutating func start(outcomes: [Outcome] = []) {
        carryOut(
            machine.onStart(
                entries: journals, records: Array(records.values), outcomes: outcomes, now: now, using: &generator))
    }

    /// The daemon ends at this moment and starts again.
    mutating func restart(routeIsUp: Bool = true, outcomes: [Outcome] = []) {
        unwritten = []
        machine = OutboxMachine(standing: standing, kinds: .tested)
        start(outcomes: outcomes)
        route(routeIsUp)
    }

    mutating func route(_ isUp: Bool) {
        carryOut(machine.onRoute(isUp: isUp, now: now, using: &generator))
    }

    /// Asks for something; its token is the number of requests so far.
    @discardableResult
    mutating func ask(
        _ mutation: some MutationKind, job: JobID = Desk.job, author: ReplicaID = Desk.anna, isOwn: Bool = true
    ) -> MutationToken {
        let token = MutationToken(UInt128(journals.count + 1))
        let lane = "\(job) \(author) \(type(of: mutation).lane)"
        let entry = OutboxEntry(
            request: mutation.request(token: token, after: newest[lane]), job: job, author: author,
            sequence: UInt64(journals.count + 1), created: Stamp(milliseconds: now, counter: 0), isOwn: isOwn)
        journals.append(entry)
        newest[lane] = token
        if isOwn { records[token] = OutboxRecord(token: token) }
        carryOut(machine.onRequest(entry, now: now, using: &generator))
        return token
    }

    /// What came of the whole exchange that a request was last in, or of an earlier one.
    mutating func reply(
        _ token: MutationToken, _ reply: OutboxMachine.Reply, in number: OutboxMachine.ExchangeNumber? = nil
    ) {
        carryOut(machine.onReply(number ?? exchange[token] ?? 0, reply, now: now, using: &generator))
    }

    /// The server decides: its answer comes when it has decided all of the exchange.
    mutating func answer(
        _ token: MutationToken, _ verdict: Outcome.Verdict = .accepted, _ reason: String = "",
        in number: OutboxMachine.ExchangeNumber? = nil
    ) {
        let number = number ?? exchange[token] ?? 0
        said[number, default: [:]][token] = Outcome(token: token, verdict: verdict, reason: reason)
        let outcomes = (exchanges[number] ?? [token]).compactMap { said[number]?[$0] }
        guard outcomes.count >= exchanges[number]?.count ?? 0 else { return }
        reply(token, .decided(outcomes), in: number)
        for token in outcomes.map(\.token) where publishing.remove(token) != nil { publish(token) }
    }

    mutating func publish(_ token: MutationToken, _ verdict: Outcome.Verdict = .accepted, _ reason: String = "") {
        let outcome = Outcome(token: token, verdict: verdict, reason: reason)
        carryOut(machine.onOutcome(outcome, now: now, using: &generator))
    }

    /// The answer and, right behind it, what the server published.
    mutating func accept(_ token: MutationToken) {
        publishing.insert(token)
        answer(token)
    }

    /// Those that are under way in one exchange with a request, in its order.
    func companions(of token: MutationToken) -> [MutationToken] { exchange[token].flatMap { exchanges[$0] } ?? [] }

    /// Time goes by; the machine is called when it asked for it and at no other time.
    mutating func pass(_ milliseconds: UInt64) {
        let end = now + milliseconds
        var calls = 0
        while let deadline = machine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            calls += 1
            guard calls < 10_000 else {
                Issue.record("the timer is busy")
                return
            }
            carryOut(machine.onTimer(now: now, using: &generator))
        }
        now = end
    }

    func state(of token: MutationToken) -> QueuedMutation.State? {
        machine.queue.first { $0.entry.token == token }?.state
    }
}
