import CRDT
import Replication
import Storage
import Synchronization
import Testing

@testable import Engine
@testable import Simulation

/// The way to the server, in virtual time.
@Suite("The gateway", .timeLimit(.minutes(1)))
struct GatewayTests {
    @Test("What changes while the server is asked gets there without waiting for the next poll")
    func changesDuringPoll() throws {
        let anna = try Anna()
        let server = try anna.server()
        try anna.scheduler.finish {
            let (way, outbox, gateway) = try await anna.connect(to: server)
            let second = JobID(ItemID(8))
            let first = try await anna.write().segment.head.sequence
            _ = try await anna.write(in: second)
            // While one job is brought, somebody writes in the other, with which the round is through.
            let brought = Mutex<[JobID]>([])
            way.isBringing = { _, job in
                let former = brought.withLock { brought in
                    brought.append(job)
                    return brought.count == 2 ? brought[0] : nil
                }
                if let former { anna.run.begin { _ = try? await anna.write(in: former) } }
            }
            await anna.pollForAMinute(gateway, outbox)
            let jobs = brought.withLock { $0 }
            #expect(jobs.count == 3 && jobs[0] != jobs[1] && jobs[2] == jobs[0], "\(jobs)")
            let own = anna.store.identity.replica
            for job in [Anna.job, second] {
                let here = try await anna.store.vector(of: job)[own]
                #expect(try await server.store.vector(of: job)[own] == here)
                if job == jobs[0] { #expect(here.sequence > first, "it was written during the poll") }
            }
        }
    }

    @Test("Requests of a job wait until the server has the words about whom it is for")
    func wordsFirst() throws {
        let anna = try Anna()
        let server = try anna.server()
        try anna.scheduler.finish {
            let (way, outbox, gateway) = try await anna.connect(to: server, assignments: try Words(of: Anna.job))
            // As often as it refuses them, nothing was decided.
            let refusals = Mutex(0)
            way.takesWords = {
                guard server.decided.isEmpty else { return true }
                return refusals.withLock { count in
                    count += 1
                    return count > 3
                }
            }
            let tokens = try await anna.openJob(by: outbox)
            await anna.pollForAMinute(gateway, outbox)
            #expect(tokens.count == 1 && server.decided == Set(tokens))
            #expect(refusals.withLock { $0 } > 3)
        }
    }

    @Test("Nothing is kept of an exchange that is over")
    func finishedExchanges() throws {
        let anna = try Anna()
        let server = try anna.server()
        try anna.scheduler.finish {
            let (_, outbox, gateway) = try await anna.connect(to: server)
            let tokens = try await anna.openJob(by: outbox)
            await anna.pollForAMinute(gateway, outbox)
            #expect(tokens.count == 1 && server.decided == Set(tokens))
            #expect(await outbox.deliveries.isEmpty)
        }
    }
}

extension Anna {
    fileprivate func server() throws -> SimulatedServer {
        let server = try SimulatedServer(seed: 1, acknowledges: false, checker: Checker(), scheduler: scheduler)
        server.isCalm = true
        return server
    }

    fileprivate func connect(
        to server: SimulatedServer, assignments: Words? = nil
    ) async throws -> (ServerWay, OutboxDriver, Gateway) {
        let way = ServerWay(server: server, machine: machine, isUp: true)
        let outbox = OutboxDriver(store: store, replicator: replicator, clock: clock, machine: run, logger: logger)
        try await outbox.start()
        let gateway = Gateway(
            Gateway.Parts(
                server: way, store: store, replicator: replicator, outbox: outbox, machine: run, logger: logger,
                assignments: assignments),
            host: "192.0.2.1", interval: 7 * 86_400_000)
        await outbox.attach(gateway)
        way.hear = { [replicator] in await replicator.learn(.server($0)) }
        await replicator.attach(links)
        return (way, outbox, gateway)
    }

    /// - Returns: what was asked for.
    fileprivate func openJob(by outbox: OutboxDriver) async throws -> [MutationToken] {
        var batch = MutationBatch(job: Anna.job)
        batch.createsJob = true
        var chance = SeededGenerator(seed: 1)
        batch.openIfNeeded(using: &chance)
        return try await outbox.ask(batch).tokens
    }

    fileprivate func pollForAMinute(_ gateway: Gateway, _ outbox: OutboxDriver) async {
        let news = JobNews(outbox: outbox, gateway: gateway)
        told.news.withLock { $0 = news }
        await gateway.routesChanged(nil)
        let tasks = [run.begin { await news.run() }, run.begin { await gateway.run() }]
        await scheduler.pass(microseconds: 60_000_000)
        for task in tasks { task.cancel() }
    }
}

/// One job is for one laptop, which the server may refuse to hear.
private final class Words: AssignmentRegister {
    let job: JobID
    let words: JobRoster

    init(of job: JobID) throws {
        var roster = JobRoster()
        let lea = DeviceID(high: 1, low: 1)
        let statement = Assignment(
            of: job, [Assignment.Word(lea, isOn: true)], stamp: Stamp(milliseconds: 1, counter: 0), signer: lea,
            certificates: []
        ) { _ in [UInt8](repeating: 7, count: Assignment.signatureBytes) }
        _ = roster.apply(try #require(statement))
        (self.job, words) = (job, roster)
    }

    var rosters: [(job: JobID, roster: JobRoster)] { [(job, words)] }
    func roster(of job: JobID) -> JobRoster { job == self.job ? words : JobRoster() }
    func access(of device: DeviceID) -> JobAccess { JobAccess(device) }
    func receives(_ job: JobID) -> Bool { true }
    func learn(_ statements: [Assignment]) async throws(AssignmentObstacle) {}
    func cutOff(_ devices: Set<DeviceID>) async {}
    func rostersOfNewFleet() async -> [(job: JobID, roster: JobRoster)]? { nil }
}
