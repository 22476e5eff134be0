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
    let store: Store
    private let scheduler: Scheduler
    private var generator: SeededGenerator
    /// Answers nothing but that it is busy.
    var isBusy = false
    /// The way is a good one from now on.
    var isCalm = false
    private(set) var lost = 0
    private(set) var decided: [MutationToken] = []

    init(seed: UInt64, scheduler: Scheduler) throws {
        self.scheduler = scheduler
        generator = SeededGenerator(seed: seed ^ 0x5e7)
        store = try Store.openInMemory(
            place: StorePlace(machine: "office", file: "1"), hostName: "office", role: .channel, generator: &generator)
        store.setLatency { [self] in await pass(upTo: 1_500) }
    }

    /// Its clock is the true one.
    var now: ReceiveTime {
        ReceiveTime(milliseconds: UInt64((VirtualClock.epoch + scheduler.now) / 1_000), isSynchronised: true)
    }

    private func pass(upTo microseconds: Int64) async {
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
        let reply = await self.reply(answer)
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
        do { return .answer(try await answer()) } catch let problem as ChannelProblem {
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
        for segment in segments {
            switch try await store.upload(segment, job: job, now: now, mayWrite: true) {
            case .stored, .known, .adopted: break
            case .gap(let head): throw problem(.journalGap, head.sequence)
            case .partsEarlier: throw problem(.journalForked, nil)
            case .staysHere(let agreed): throw problem(.journalForked, agreed)
            case .wouldAdopt: throw ChannelProblem(.unavailable, "Not now.")
            case .ownJournal: throw ChannelProblem(.channelUpload, "That is the server's own.")
            }
        }
        return try await store.holdings(of: job)
    }

    private func problem(_ code: ChannelProblem.Code, _ sequence: UInt64?) -> ChannelProblem {
        var problem = ChannelProblem(code, "It does not fit.")
        problem.sequence = sequence
        return problem
    }

    func remove(_ job: JobID, _ removal: JobRemoval) async throws -> JobHoldings {
        var chance = SeededGenerator(seed: generator.next())
        _ = try await store.takeRemoval(removal, of: job, now: now, using: &chance)
        return try await store.holdings(of: job)
    }

    func decide(_ delivery: Delivery) async throws -> MutationDecision {
        let request = delivery.request
        let decision = try await store.decide(
            request, job: delivery.job, knowing: delivery.knownChannel, now: now
        ) {
            MutationEvaluation(of: request, on: JobStanding(values: $0, digest: nil))
        }
        switch decision {
        case .predecessorMissing(let token):
            var problem = ChannelProblem(.predecessorMissing, "Not its turn.")
            problem.token = token.description
            throw problem
        case .behind: throw ChannelProblem(.channelBehind, "It was set back.")
        case .tokenReused: throw ChannelProblem(.keyReused, "Another request.")
        case .decided(let outcome, let commit):
            if commit != nil { decided.append(request.token) }
            let run = try await store.channelRun(of: delivery.job, after: delivery.knownChannel, limit: 100)
            return MutationDecision(
                outcome: outcome, channel: SegmentList(segments: [run.segment].compactMap(\.self), head: run.head))
        }
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
    /// Its laptop is off. What was sent before arrives all the same.
    var isDead = false
    /// What every answer says of the time.
    var hear: @Sendable (TimeExchange) async -> Void = { _ in }
    /// Told just before that.
    var isAnswered: () -> Void = {}

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
        await server.ask(by: self) { [server] in try await server.jobs(since: cursor) }
    }

    func holdings(of job: JobID) async -> ServerReply<JobHoldings> {
        await server.ask(by: self) { [server] in try await server.store.holdings(of: job) }
    }

    func remove(_ job: JobID, _ removal: JobRemoval) async -> ServerReply<JobHoldings> {
        await server.ask(by: self) { [server] in try await server.remove(job, removal) }
    }

    func channel(of job: JobID, after sequence: UInt64) async -> ServerReply<SegmentList> {
        await server.ask(by: self) { [server] in try await server.channel(of: job, after: sequence) }
    }

    func journal(from place: JournalPlace) async -> ServerReply<SegmentList> {
        await server.ask(by: self) { [server] in try await server.journal(from: place) }
    }

    func upload(_ segments: [JournalSegment], to job: JobID) async -> ServerReply<JobHoldings> {
        await server.ask(by: self) { [server] in try await server.upload(segments, to: job) }
    }

    func deliver(_ delivery: Delivery) async -> ServerReply<MutationDecision> {
        await server.ask(by: self) { [server] in try await server.decide(delivery) }
    }

    func connectAnew(endingWhatIsUnderWay: Bool) {}
}
