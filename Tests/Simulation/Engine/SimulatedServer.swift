import CRDT
import Engine
import Inventory
import Outbox
import Replication
import ServerChannel
import Storage
import Timekeeping

/// The company's server behind a bad way: its production store, and answers that come late, twice or not at all.
final class SimulatedServer: @unchecked Sendable {
    /// How it stands with its database.
    enum Condition {
        case well
        /// An older one was put back, and its people do not know yet: it serves on.
        case setBack
        /// It takes its own words from laptops and says nothing (`--recover`).
        case recovering
    }

    private(set) var store: Store
    /// Every store that it had.
    private(set) var stores: [Store]
    private let scheduler: Scheduler
    var generator: SeededGenerator
    private(set) var condition = Condition.well
    private(set) var backup: Laptop.DiskContents?
    let witness: Witness
    private let membership: Membership?
    /// Who is on which job; nil where every job is everybody's.
    private(set) var assignments: SimulatedAssignments?
    var holder: Holder { witness.holder }
    /// It says how far it holds the journals: of these jobs it will in a moment.
    private let acknowledges: Bool
    private var gathering: Set<JobID> = []
    /// Runs of its own words that laptops have brought back.
    private(set) var wordsTakenBack = 0
    /// A rule that it saw broken.
    var violation: Violation?
    /// Answers nothing but that it is busy.
    var isBusy = false
    /// The way is a good one from now on.
    var isCalm = false
    private(set) var lost = 0
    /// Exchanges of several requests, and those of which it decided the first only.
    var together = 0
    var inPart = 0
    private(set) var decided: Set<MutationToken> = []
    /// Whether any laptop holds what was decided.
    var isRemembered: (MutationToken, JobID) -> Bool = { _, _ in true }

    /// - Parameter acknowledges: says how far it holds the journals, which laptops find out by their polls.
    init(
        seed: UInt64, acknowledges: Bool, checker: Checker, scheduler: Scheduler, membership: Membership? = nil
    ) throws {
        self.membership = membership
        self.scheduler = scheduler
        self.acknowledges = acknowledges
        generator = SeededGenerator(seed: seed ^ 0x5e7)
        store = try Self.openStore(nil, as: Self.signers[0], &generator)
        stores = [store]
        witness = Witness("the server", store: store, checker: checker, scheduler: scheduler)
        try begin(holding: nil)
    }

    private func begin(holding references: [JobID: Reference]?) throws {
        store.setLatency { [self] in await pass(upTo: 1_500) }
        try witness.watch(store, holding: references)
        guard let membership else { return }
        let (store, witness) = (store, witness)
        assignments = try witness.look { [self] in
            try await membership.register(of: store, now: { Int64(self.now.milliseconds) }, witness)
        }
    }

    /// Whoever puts an older database back may have lost its key: then it has another.
    static let signers = [TestSigner(named: "office"), TestSigner(named: "the office's next")]
    private(set) var signer = signers[0]

    private static func openStore(
        _ contents: [UInt8]?, as signer: TestSigner, _ generator: inout SeededGenerator
    ) throws -> Store {
        try Store.openInMemory(
            contents: contents, place: StorePlace(machine: "office", file: "1"), hostName: "office", role: .channel,
            signer: signer, generator: &generator)
    }

    // MARK: Its database

    func backUp() throws {
        backup = try Laptop.DiskContents(
            bytes: store.copy(), references: holder.references, replica: .channel, signer: nil)
    }

    /// The database is what was put aside. What was under way before ends without an answer.
    func setBack(to backup: Laptop.DiskContents, isNoticed: Bool) throws {
        signer = generator.pick(Self.signers)
        store = try Self.openStore(backup.bytes, as: signer, &generator)
        stores.append(store)
        gathering = []
        condition = isNoticed ? .recovering : .setBack
        try begin(holding: backup.references)
    }

    /// Its people have noticed.
    func beginRecovery() { if condition == .setBack { condition = .recovering } }

    /// No laptop holds more of its words than it does.
    func endRecovery() { condition = .well }

    /// Its power goes and comes back.
    func restart() throws {
        store = try Self.openStore(store.copy(), as: signer, &generator)
        stores.append(store)
        gathering = []
        try begin(holding: nil)
    }

    func note(_ token: MutationToken, of job: JobID) {
        // The words of a removed job go with it: with those that a server was set back behind, nobody has them any more.
        if !decided.insert(token).inserted, isRemembered(token, job) {
            violation = violation ?? Violation("R8", "the server has decided a request twice.")
        }
    }

    /// What nobody knows of any more may be decided again.
    func forget(_ tokens: Set<MutationToken>) { decided.subtract(tokens) }

    /// Its clock is the true one.
    var now: ReceiveTime {
        ReceiveTime(milliseconds: UInt64((VirtualClock.epoch + scheduler.now) / 1_000), isSynchronised: true)
    }

    private func pass(upTo microseconds: Int64) async {
        if scheduler.isStandingStill { return }
        await scheduler.pass(microseconds: Int64.random(in: 0...microseconds, using: &generator))
    }

    // MARK: The way to it

    /// Asks it something over the way of one laptop.
    func ask<Value: Sendable>(
        by way: ServerWay, _ answer: @escaping @Sendable () async throws -> Value
    ) async -> ServerReply<Value> {
        await way.endIfDead()
        guard way.isUp else {
            await pass(upTo: 50_000)
            return .unreachable("no connection")
        }
        let sent = way.machine.elapsedMicroseconds
        await pass(upTo: isCalm ? 30_000 : 700_000)
        if !isCalm, generator.oneIn(20) {
            lost += 1
            await pass(upTo: 4_000_000)
            return .lost("the request was lost")
        }
        guard !isBusy else { return .busy(status: 503, retryAfterMilliseconds: 2_000) }
        let received = VirtualClock.epoch + scheduler.now
        let store = store
        // It goes on when who asked falls asleep.
        let reply = await Task(executorPreference: scheduler) { await self.reply(answer) }.value
        guard store === self.store else { return .lost("the server was stopped") }
        let answered = VirtualClock.epoch + scheduler.now
        await pass(upTo: isCalm ? 30_000 : 700_000)
        if !isCalm, generator.oneIn(15) {
            lost += 1
            return .lost("the answer was lost")
        }
        await way.endIfDead()
        guard way.isUp else { return .lost("the connection ended") }
        // As the client does: the time first, then the answer.
        way.isAnswered()
        await way.hear(
            TimeExchange(
                sent: sent, received: received, answered: answered, returned: way.machine.elapsedMicroseconds))
        return reply
    }

    private func reply<Value>(_ answer: () async throws -> Value) async -> ServerReply<Value> {
        do { return .answer(try await answer()) } catch is ChannelIsSilent {
            let problem = ChannelProblem(.channelBehind, "It takes its own words back first.")
            return .problem(ServerProblem(status: problem.status, problem: problem))
        } catch let problem as ChannelProblem where problem.status == 503 {
            return .busy(status: 503, retryAfterMilliseconds: 5_000)
        } catch let problem as ChannelProblem {
            return .problem(ServerProblem(status: problem.status, problem: problem))
        } catch let error as StoreError where error.code == .unknownJob {
            return .problem(ServerProblem(status: 404, problem: ChannelProblem(.unknownJob, "No such job.")))
        } catch {
            return .problem(ServerProblem(status: 422, problem: ChannelProblem(.malformed, "\(error)")))
        }
    }

    // MARK: What it does

    func jobs(since cursor: String?) async throws -> JobChangeList {
        let page = try await store.jobChanges(since: cursor, limit: ChannelLimits.entries)
        let entries = page.changes.map {
            JobChangeList.Entry(job: $0.job, channel: $0.head, fingerprint: $0.fingerprint)
        }
        return JobChangeList(entries: entries, cursor: page.cursor, isFromStart: page.isFromStart)
    }

    func upload(_ segments: [JournalSegment], to job: JobID) async throws -> JobHoldings {
        let store = store
        for segment in segments {
            guard segment.replica != .channel else {
                try await recover(segment, of: job)
                continue
            }
            switch try await store.upload(segment, job: job, now: now, mayWrite: condition == .well) {
            case .stored, .adopted: acknowledgeLater(job, in: store)
            case .known: break
            case .gap(let head): throw problem(.journalGap, head.sequence)
            case .partsEarlier: throw problem(.journalForked, nil)
            case .staysHere(let agreed): throw problem(.journalForked, agreed)
            case .forged(let reason): throw ChannelProblem(.malformed, reason)
            case .ownJournal: throw ChannelProblem(.channelUpload, "That is the server's own.")
            }
        }
        return try await store.holdings(of: job)
    }

    private func acknowledgeLater(_ job: JobID, in store: Store) {
        // It may have been set back meanwhile.
        guard acknowledges, store === self.store, gathering.insert(job).inserted else { return }
        Task(executorPreference: scheduler) { [self] in
            await scheduler.pass(microseconds: 500_000)
            guard store === self.store else { return }
            gathering.remove(job)
            guard condition == .well else { return }
            do { _ = try await store.acknowledgeHeld(job: job, now: now) } catch {
                violation = violation ?? Violation("failure", "the server cannot say what it holds: \(error)")
            }
        }
    }

    /// What it had said before it was set back.
    private func recover(_ segment: JournalSegment, of job: JobID) async throws {
        guard condition == .recovering else { throw ChannelProblem(.channelUpload, "That is the server's own.") }
        switch try await store.recover(segment, job: job, now: now).result {
        case .stored: wordsTakenBack += 1
        case .duplicate: break
        case .gap(let head): throw problem(.journalGap, head.sequence)
        case .forked, .ownFuture, .malformed, .forged, .unvouched, .failed: throw problem(.journalForked, nil)
        }
    }

    private func problem(_ code: ChannelProblem.Code, _ sequence: UInt64?) -> ChannelProblem {
        var problem = ChannelProblem(code, "It does not fit.")
        problem.sequence = sequence
        return problem
    }

    func remove(_ job: JobID, _ removal: JobRemoval, by device: DeviceID) async throws -> JobHoldings {
        var chance = SeededGenerator(seed: generator.next())
        _ = try await store.takeRemoval(removal, of: job, now: now, mayWrite: condition == .well, using: &chance)
        return try await tellable(try await store.holdings(of: job), of: job, to: device)
    }

    func channel(of job: JobID, after sequence: UInt64) async throws -> SegmentList {
        let run = try await store.channelRun(of: job, after: sequence, limit: 4)
        return SegmentList(segments: [run.segment].compactMap(\.self), head: run.head)
    }

    func journal(from place: JournalPlace) async throws -> SegmentList {
        let run = try await store.segment(
            of: place.replica, job: place.job, from: place.after + 1, maximumBytes: 500)
        return SegmentList(segments: [run].compactMap(\.self))
    }
}

/// The way of one laptop to the server, from one start to the next.
final class ServerWay: ServerExchange, @unchecked Sendable {
    let server: SimulatedServer
    let machine: VirtualMachine
    var isUp: Bool
    /// Whose way it is.
    var device: @Sendable () -> DeviceID = { DeviceID(high: 0, low: 0) }
    /// Its laptop is off. What was sent before arrives all the same.
    var isDead = false
    /// What every answer says of the time.
    var hear: @Sendable (TimeExchange) async -> Void = { _ in }
    /// Told just before that.
    var isAnswered: () -> Void = {}
    /// Told what the laptop is about to bring.
    var isBringing: ([JournalSegment], JobID) -> Void = { _, _ in }
    /// Whether the server takes what it is told of who is on jobs.
    var takesWords: () -> Bool = { true }

    init(server: SimulatedServer, machine: VirtualMachine, isUp: Bool) {
        self.server = server
        self.machine = machine
        self.isUp = isUp
    }

    /// A task of a laptop that is off goes no further.
    func endIfDead() async {
        if isDead { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }

    func jobs(since cursor: String?) async -> ServerReply<JobChangeList> {
        await server.ask(by: self) { [server, device] in try await server.jobs(since: cursor, for: device()) }
    }

    func holdings(of job: JobID) async -> ServerReply<JobHoldings> {
        await server.ask(by: self) { [server, device] in try await server.holdings(of: job, for: device()) }
    }

    func assignments(of job: JobID) async -> ServerReply<[Assignment]> {
        await server.ask(by: self) { [server, device] in try await server.statements(of: job, for: device()) }
    }

    func bring(_ assignments: [Assignment]) async -> ServerReply<[Assignment]> {
        guard takesWords() else { return .problem(ServerProblem(status: 422)) }
        return await server.ask(by: self) { [server] in try await server.assign(assignments) }
    }

    func remove(_ job: JobID, _ removal: JobRemoval) async -> ServerReply<JobHoldings> {
        await server.ask(by: self) { [server, device] in try await server.remove(job, removal, by: device()) }
    }

    func channel(of job: JobID, after sequence: UInt64) async -> ServerReply<SegmentList> {
        await server.ask(by: self) { [server, device] in
            try server.check(job, for: device())
            return try await server.channel(of: job, after: sequence)
        }
    }

    func journal(from place: JournalPlace) async -> ServerReply<SegmentList> {
        await server.ask(by: self) { [server, device] in
            try await server.checkJournal(place, for: device())
            return try await server.journal(from: place)
        }
    }

    func upload(_ segments: [JournalSegment], to job: JobID) async -> ServerReply<JobHoldings> {
        if !isDead { isBringing(segments, job) }
        return await server.ask(by: self) { [server, device] in
            try await server.tellable(try await server.upload(segments, to: job), of: job, to: device())
        }
    }

    func deliver(_ deliveries: [Delivery]) async -> ServerReply<MutationDecisions> {
        await server.ask(by: self) { [server, device] in try await server.decide(deliveries, by: device()) }
    }

    func connectAnew(endingWhatIsUnderWay: Bool) {}
}
