import CRDT
import Outbox
import Testing

@testable import Engine
@testable import Simulation

/// The simulation's look at a queue of which journals have brought something back.
@Suite("What a laptop waits for after its disk was set back", .timeLimit(.minutes(5)))
struct QueueAfterSetBackTests {
    @Test("What others bring back of it is in its queue once the disk has said that it is durable")
    func comesBack() throws {
        var moments = 0
        for seed in UInt64(1)...12 {
            let crew = try EngineCrew(seed: seed, scheduler: Scheduler(seed: seed))
            defer { crew.close() }
            guard crew.traitor == nil else { continue }
            let (scheduler, laptop) = (crew.scheduler, crew.laptops[0])
            crew.server.isBusy = true
            try laptop.backUp()
            for job in crew.jobs.prefix(3) { try scheduler.finish { try await laptop.ask(about: job) } }
            scheduler.run(until: 20_000_000)
            let asked = laptop.asked
            #expect(asked.count == crew.jobs.prefix(3).count)
            try crew.setBack(laptop)
            for _ in 0..<4_000 {
                scheduler.run(until: scheduler.now + 5_000)
                if try laptop.isUp && !crew.forgotten(by: laptop).isEmpty { moments += 1 }
                try crew.lookAtQueue(of: laptop)
                if let failure = crew.failure { throw failure }
            }
            let queue = try scheduler.finish { Set(await laptop.engine.outbox.queue.map(\.entry.token)) }
            #expect(queue == asked, "seed \(seed)")
        }
        #expect(moments > 0, "it was looked at before the disk had said so")
    }

    @Test("What it has heard of and does not wait for is missed, however it came")
    func isMissed() throws {
        let crew = try EngineCrew(seed: 1, scheduler: Scheduler(seed: 1))
        defer { crew.close() }
        let (scheduler, laptop, job) = (crew.scheduler, crew.laptops[0], crew.jobs[0])
        crew.server.isBusy = true
        try scheduler.finish { try await laptop.ask(about: job) }
        scheduler.run(until: 5_000_000)
        try crew.lookAtQueue(of: laptop)
        let token = try #require(laptop.asked.first)
        // The outbox alone is made to think that it was decided.
        try scheduler.finish {
            await laptop.engine.outbox.forget(token)
        }
        for since in [nil, scheduler.now - 60_000_000, scheduler.now] {
            laptop.holder.openSince[token] = since
            #expect(throws: Violation.self) { try crew.lookAtQueue(of: laptop) }
        }
    }
}

extension OutboxDriver {
    fileprivate func forget(_ token: MutationToken) {
        _ = machine.onOutcome(
            Outcome(token: token, verdict: .accepted, reason: ""), now: now, using: &generator)
    }
}
