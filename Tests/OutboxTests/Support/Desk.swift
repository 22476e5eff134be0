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
    var attempts: [MutationToken: Int] = [:]
    var cancelled: [MutationToken] = []
    var withdrawals: [MutationToken] = []
    var brought: [ReplicaID] = []
    var told: [OutboxMachine.Notice] = []
    var log: [AttemptEvent] = []
    /// Attempts whose record is not durable yet, while the store is slow.
    var storeIsSlow = false
    var unwritten: [OutboxRecord] = []

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
            case .persist(let record, let begins):
                if begins, storeIsSlow {
                    unwritten.append(record)
                } else {
                    records[record.token] = record
                    if begins {
                        carryOut(
                            machine.onPersisted(
                                record.token, attempt: record.attempts, now: now, using: &generator))
                    }
                }
            case .forget(let token): records[token] = nil
            case .remember(let standing): self.standing = standing
            case .send(let entry, let attempt):
                sent.append(entry.token)
                attempts[entry.token] = attempt
            case .cancel(let token, _): cancelled.append(token)
            case .bringJournal(_, let author): brought.append(author)
            case .withdraw(_, let token): withdrawals.append(token)
            case .log(let event): log.append(event)
            case .tell(let notice): told.append(notice)
            }
        }
    }

    mutating func writeAll() {
        let waiting = unwritten
        unwritten = []
        for record in waiting {
            records[record.token] = record
            carryOut(machine.onPersisted(record.token, attempt: record.attempts, now: now, using: &generator))
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
            sequence: UInt64(journals.count + 1), created: now, isOwn: isOwn)
        journals.append(entry)
        newest[lane] = token
        if isOwn { records[token] = OutboxRecord(token: token) }
        carryOut(machine.onRequest(entry, now: now, using: &generator))
        return token
    }

    mutating func reply(_ token: MutationToken, _ reply: OutboxMachine.Reply, attempt: Int? = nil) {
        let number = attempt ?? attempts[token] ?? 0
        carryOut(machine.onReply(token, attempt: number, reply, now: now, using: &generator))
    }

    mutating func publish(_ token: MutationToken, _ verdict: Outcome.Verdict = .accepted, _ reason: String = "") {
        let outcome = Outcome(token: token, verdict: verdict, reason: reason)
        carryOut(machine.onOutcome(outcome, now: now, using: &generator))
    }

    /// The reply and, right behind it, what the server published.
    mutating func accept(_ token: MutationToken) {
        reply(token, .accepted)
        publish(token)
    }

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
