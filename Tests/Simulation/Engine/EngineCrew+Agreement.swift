import Engine
import Outbox
import Storage

/// Every fault ends, and everybody has to agree in bounded time.
extension EngineCrew {
    /// How long agreement may take when nothing breaks any more: longer than all back-off together.
    private static let patience: Int64 = 3_600_000_000

    func agree() throws {
        scheduler.tell("everything is mended")
        beginEndOfTreason()
        network.heal()
        server.isBusy = false
        server.isCalm = true
        server.beginRecovery()
        for laptop in laptops {
            laptop.machine.processor.wakeUp()
            laptop.isDiskFull = false
        }
        for laptop in laptops where !laptop.isUp { try scheduler.finish { try await laptop.restart(reboots: false) } }
        // Who is nearest to the server has a way to it at last; the others by the luck that they have.
        // What a removed job took along no other laptop can ask for any more.
        // Who has a way already hears of nothing: a poll too many would hide what nobody was told.
        for laptop in laptops where !laptop.engine.way.isUp && (laptop.index == 0 || hasRemovals) {
            setRoute(of: laptop, isUp: true)
        }
        let deadline = scheduler.now + Self.patience
        var what = "nothing was looked at"
        while scheduler.now < deadline {
            scheduler.run(until: scheduler.now + 2_000_000)
            if let failure = failure ?? server.violation { throw failure }
            if let difference = try difference() {
                what = difference
            } else if arePeopleDone {
                return
            } else {
                // What was written meanwhile, in the very moment of a step, has to get to everybody, too.
                arePeopleDone = true
            }
        }
        throw Violation("liveness", what)
    }

    /// What keeps the crew from being done; nil when it is.
    private func difference() throws -> String? {
        let (laptops, server, jobs) = (laptops, server, allJobs)
        return try scheduler.finish {
            for laptop in laptops {
                let waiting = await laptop.engine.outbox.queue.filter { $0.state != .rejected }
                if !waiting.isEmpty { return "laptop \(laptop.index) waits for \(waiting.count) answers" }
            }
            for job in jobs {
                let there = try? await server.store.holdings(of: job)
                for laptop in laptops {
                    let here = try? await laptop.engine.store.holdings(of: job)
                    if let here, await laptop.engine.replicator.holdings(of: job) != here {
                        return "laptop \(laptop.index) tells others something else of \(job) than it holds"
                    }
                    if here != there { return "laptop \(laptop.index) and the server differ in \(job)" }
                }
            }
            return nil
        }
    }
}
