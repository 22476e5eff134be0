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
        let server = try SimulatedServer(seed: 1, acknowledges: false, checker: Checker(), scheduler: anna.scheduler)
        server.isCalm = true
        try anna.scheduler.finish {
            let way = ServerWay(server: server, machine: anna.machine, isUp: true)
            let outbox = OutboxDriver(
                store: anna.store, replicator: anna.replicator, clock: anna.clock, machine: anna.run,
                logger: anna.logger)
            try await outbox.start()
            let gateway = Gateway(
                Gateway.Parts(
                    server: way, store: anna.store, replicator: anna.replicator, outbox: outbox, machine: anna.run,
                    logger: anna.logger),
                host: "192.0.2.1", interval: 7 * 86_400_000)
            await outbox.attach(gateway)
            let news = JobNews(outbox: outbox, gateway: gateway)
            anna.told.news.withLock { $0 = news }
            way.hear = { [replicator = anna.replicator] in await replicator.learn(.server($0)) }
            await anna.replicator.attach(anna.links)
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
            await gateway.routesChanged(nil)
            let tasks = [anna.run.begin { await news.run() }, anna.run.begin { await gateway.run() }]
            await anna.scheduler.pass(microseconds: 60_000_000)
            let jobs = brought.withLock { $0 }
            #expect(jobs.count == 3 && jobs[0] != jobs[1] && jobs[2] == jobs[0], "\(jobs)")
            let own = anna.store.identity.replica
            for job in [Anna.job, second] {
                let here = try await anna.store.vector(of: job)[own]
                #expect(try await server.store.vector(of: job)[own] == here)
                if job == jobs[0] { #expect(here.sequence > first, "it was written during the poll") }
            }
            for task in tasks { task.cancel() }
        }
    }
}
