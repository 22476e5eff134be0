package import CRDT
package import CoreMetrics
package import Logging
import Metering
package import Outbox
import Replication
import ServerChannel
package import Storage

/// Carries out what the outbox decides: between the store, the server and the people at this device.
///
/// One actor, so that the outbox sees one thing after another. Its directives go through one queue, so that what it wants
/// remembered is written in its order.
package actor OutboxDriver {
    /// When the store could not be read.
    private static let secondLookMilliseconds: UInt64 = 5_000

    var machine = OutboxMachine()
    let store: Store
    let replicator: Replicator
    private let clock: ClockService
    let host: any Machine
    let logger: Logger
    let delivered: Counter
    private(set) var server: (any ServerExchange)?
    private(set) var bring: (@Sendable (JournalPlace) async -> Void)?
    private(set) var bringAll: (@Sendable (JobID) async -> RoundFailure?)?
    private(set) var tellAssignments: (@Sendable ([JobID]) async -> OutboxMachine.Reply?)?
    private var tellGateway: (@Sendable () async -> Void)?
    private var marks: [JobID: RequestMark] = [:]
    private var backlog: [OutboxMachine.Directive] = []
    private var draining: Task<Void, Never>?
    private var look: Task<Void, Never>?
    var deliveries: [OutboxMachine.ExchangeNumber: Task<Void, Never>] = [:]
    private var timer = DeadlineTimer()
    /// Why something could not be written since a person last wished for something.
    private var failure: StoreError?
    /// What has to be remembered and could not be: it is written with whatever comes next.
    private var owed: OutboxWrite?
    /// Which user of this machine is dropping what.
    private var droppers: [MutationToken: UInt32] = [:]
    var generator: MachineGenerator
    private var changed: (@Sendable () -> Void)?

    /// - Parameter metrics: where delivered requests are counted.
    package init(
        store: Store, replicator: Replicator, clock: ClockService, machine: any Machine, logger: Logger,
        metrics: any MetricsFactory = NOOPMetricsHandler.instance
    ) {
        delivered = metrics.counter(.requestsDelivered)
        self.store = store
        self.replicator = replicator
        self.clock = clock
        self.host = machine
        self.logger = logger
        generator = machine.generator
    }

    var now: UInt64 { host.elapsedMilliseconds }

    /// Makes the outbox again from what is durable.
    package func start() async throws {
        let start = try await store.outboxStart()
        machine = OutboxMachine(standing: start.standing)
        marks = start.marks
        enqueue(
            machine.onStart(
                entries: start.entries, records: start.records, outcomes: start.outcomes, now: now, using: &generator))
    }

    /// From now on requests are sent, by the gateway's way to the server.
    package func attach(_ gateway: Gateway) {
        server = gateway.server
        bring = { await gateway.bring($0) }
        bringAll = { await gateway.bringAll(of: $0) }
        tellAssignments = { await gateway.tellAssignments(of: $0) }
        tellGateway = { await gateway.acceptedAgain() }
    }

    /// Nothing is sent any more.
    package func stop() {
        timer.cancel()
        for delivery in deliveries.values { delivery.cancel() }
    }

    /// Has somebody told whenever something of the queue may have changed; it must not wait.
    package func onChange(_ listener: @escaping @Sendable () -> Void) { changed = listener }

    // MARK: What happens

    /// A job has new transforms: some may be requests, or what became of them.
    package func jobAdvanced(_ job: JobID) async {
        await inTurn { await self.look(at: job) }
    }

    /// One look after another: an older one must not bring back what a newer one has settled.
    func inTurn(_ look: @escaping @Sendable () async -> Void) async {
        let before = self.look
        let next = host.begin {
            await before?.value
            await look()
        }
        self.look = next
        await next.value
    }

    private func look(at job: JobID) async {
        let news: RequestNews
        do { news = try await store.requestNews(of: job, since: marks[job] ?? [:]) } catch {
            // Where there is no such job, no other look will find one.
            if (error as? StoreError)?.code == .unknownJob { return }
            logger.error("the requests of a job cannot be read", metadata: ["job": "\(job)", "error": "\(error)"])
            _ = host.after(milliseconds: Self.secondLookMilliseconds) { await self.jobAdvanced(job) }
            return
        }
        marks[job] = news.mark
        var directives: [OutboxMachine.Directive] = []
        for entry in news.entries { directives += machine.onRequest(entry, now: now, using: &generator) }
        for token in news.withdrawn { directives += machine.onWithdrawn(token, now: now, using: &generator) }
        for outcome in news.outcomes { directives += machine.onOutcome(outcome, now: now, using: &generator) }
        enqueue(directives)
    }

    /// Makes edits and asks the server for what belongs to them.
    ///
    /// - Throws: as `Store.enqueue`; then nothing has changed.
    package func ask(_ batch: MutationBatch) async throws -> EnqueueResult {
        let clock = clock
        let asked = try await store.enqueue(batch, leavingOut: machine.notShown, now: { clock.now })
        // A look that was quicker has seen this one and what became of it meanwhile, which must not be undone.
        let run = asked.commit.segment
        let looked = marks[batch.job]?[run.replica]?.sequence ?? 0
        for entry in asked.entries where entry.sequence > looked {
            enqueue(machine.onRequest(entry, now: now, using: &generator))
        }
        if looked + 1 == run.first { marks[batch.job, default: [:]][run.replica] = run.head }
        return asked
    }

    func route(isUp: Bool) {
        enqueue(machine.onRoute(isUp: isUp, now: now, using: &generator))
    }

    func serverReached() {
        enqueue(machine.onServerReached(now: now, using: &generator))
    }

    func credentialsChanged() {
        enqueue(machine.onCredentials(now: now, using: &generator))
    }

    // MARK: People

    /// What waits, in the order of the lanes.
    package var queue: [QueuedMutation] { machine.queue }
    /// How many of this device's own requests wait for the server, or for a person.
    package var ownCounts: (pending: Int, paused: Int, rejected: Int) { machine.ownCounts }
    /// Requests whose effect is not shown, since they were rejected or dropped.
    package var notShown: Set<MutationToken> { machine.notShown }
    /// Pauses, credentials, the server's wish to be left alone.
    package var standing: OutboxStanding { machine.standing }

    /// A person wants a request to be tried now.
    package func retry(_ token: MutationToken) throws(OutboxRefusal) {
        enqueue(try machine.onRetry(token, now: now, using: &generator))
    }

    /// Returns when what was dropped is withdrawn durably.
    ///
    /// - Parameter user: of this machine, who drops it; nil when that is not known.
    /// - Throws: `OutboxRefusal`; `StoreError` when it could not be withdrawn, and stands.
    package func drop(_ token: MutationToken, by user: UInt32? = nil) async throws {
        let directives = try machine.onDrop(token, now: now, using: &generator)
        droppers[token] = user
        defer { droppers[token] = nil }
        try await carryOut(wish: directives)
    }

    /// Of one lane, or of all.
    package func pause(_ lane: LaneID?) async throws {
        try await carryOut(wish: machine.onPause(lane, now: now, using: &generator))
    }

    /// Ends a pause.
    package func resume(_ lane: LaneID?) async throws {
        try await carryOut(wish: machine.onResume(lane, now: now, using: &generator))
    }

    /// - Throws: `StoreError` when it could not be made durable: whoever wished for it must not believe that it holds.
    private func carryOut(wish directives: [OutboxMachine.Directive]) async throws {
        failure = nil
        enqueue(directives)
        await draining?.value
        if let failure { throw failure }
    }

    // MARK: Directives

    func enqueue(_ directives: [OutboxMachine.Directive]) {
        backlog += directives
        guard draining == nil else { return }
        guard !backlog.isEmpty || owed != nil else { return schedule() }
        draining = host.begin { await self.drain() }
    }

    private func drain() async {
        repeat {
            let batch = backlog
            backlog = []
            await carryOut(batch)
        } while !backlog.isEmpty
        draining = nil
        schedule()
    }

    private func carryOut(_ batch: [OutboxMachine.Directive]) async {
        // An owed one first: what is newer has the last word.
        let writes = [owed].compactMap(\.self) + batch.flatMap { write(for: $0) }
        var isDurable = true
        if !writes.isEmpty {
            do {
                try await store.remember(writes)
                owed = nil
            } catch {
                logger.error("what the outbox has to remember cannot be written", metadata: ["error": "\(error)"])
                isDurable = false
                failure = StoreError(error)
                owed = writes.last { if case .standing = $0 { true } else { false } }
            }
        }
        for directive in batch {
            switch directive {
            case .begin(let exchange, _):
                backlog +=
                    isDurable
                    ? machine.onPersisted(exchange, now: now, using: &generator)
                    : machine.onPersistFailed(exchange, now: now, using: &generator)
            case .send(let entries, let exchange): send(entries, in: exchange)
            case .cancel(let exchange): deliveries.removeValue(forKey: exchange)?.cancel()
            case .bringJournal(let job, let author): bringJournal(at: JournalPlace(job: job, replica: author))
            case .withdraw(let job, let token):
                // Behind the looks: one that has seen the request must not bring it back.
                await inTurn { await self.withdraw(Withdrawal(token: token, job: job)) }
            case .tell(let notice):
                tell(notice)
                if notice == .authorisedAgain { await tellGateway?() }
            case .write: break
            }
        }
    }

    private func write(for directive: OutboxMachine.Directive) -> [OutboxWrite] {
        switch directive {
        case .write(.records(let records)), .begin(_, let records): records.map { .record($0) }
        case .write(.forget(let token)): [.forget(token)]
        case .write(.standing(let standing)): [.standing(standing)]
        case .write(.attempt(let event)):
            [.attempt(LoggedAttempt(event: event, at: wall(event.began), next: event.nextAttempt.map(wall)))]
        case .send, .cancel, .bringJournal, .withdraw, .tell: []
        }
    }

    /// The time that people know, of a time since the boot.
    package func wall(_ elapsed: UInt64) -> UInt64 {
        // A wait that never ends is none of a sound record, and no reason to crash.
        let (time, overflow) = clock.now.milliseconds.addingReportingOverflow(elapsed)
        return overflow || time < now ? .max : time - now
    }

    private func withdraw(_ withdrawal: Withdrawal) async {
        let token = withdrawal.token
        do {
            let clock = clock
            _ = try await store.withdraw(withdrawal, now: { clock.now }, by: Writer(user: droppers[token]))
            backlog += machine.onWithdrawn(token, now: now, using: &generator)
        } catch {
            logger.error("a mutation could not be taken back", metadata: ["token": "\(token)", "error": "\(error)"])
            failure = StoreError(error)
            backlog += machine.onWithdrawFailed(token, now: now, using: &generator)
        }
    }

    private func tell(_ notice: OutboxMachine.Notice) {
        switch notice {
        case .rejected(let entry, let reason):
            logger.warning(
                "the server has rejected a mutation for good",
                metadata: ["token": "\(entry.token)", "job": "\(entry.job)", "reason": "\(reason)"])
        case .stuck(let entry, let failures, let lastError):
            logger.warning(
                "a mutation has not reached the server for long",
                metadata: [
                    "token": "\(entry.token)", "job": "\(entry.job)", "failures": "\(failures)",
                    "error": "\(lastError)",
                ])
        case .unauthorised: logger.warning("the server does not let this laptop in; the outbox waits")
        case .authorisedAgain: logger.info("the server lets this laptop in again")
        }
    }

    // MARK: Time

    private func schedule() {
        changed?()
        timer.set(machine.nextDeadline, on: host) { [weak self] in await self?.timerFired() }
    }

    private func timerFired() {
        guard timer.begins() else { return }
        enqueue(machine.onTimer(now: now, using: &generator))
    }
}
