import CRDT
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
        for laptop in laptops where !laptop.engine.way.isUp && (laptop.index == 0 || hasRemovals || membership != nil) {
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

    /// The server says no more of it to one that is not on the job, and more it may hold: a disk was set back, and nobody writes on.
    private func isLacking(_ own: VersionVector.Entry, in there: JobHoldings?) -> Bool {
        guard let head = there?.vector[own.replica] else { return true }
        return head.sequence < own.head.sequence || head.contradicts(own.head)
    }

    /// What keeps the crew from being done; nil when it is.
    private func difference() throws -> String? {
        let (laptops, server, jobs) = (laptops, server, allJobs)
        for job in jobs { if let lacking = differenceInWords(of: job) { return lacking } }
        return try scheduler.finish { [self] in
            for laptop in laptops {
                // What became of a request in a job that it is not on, its journals do not say.
                let waiting = await laptop.engine.outbox.queue.filter { one in
                    one.state != .rejected && isFor(laptop, one.entry.job)
                }
                if !waiting.isEmpty { return "laptop \(laptop.index) waits for \(waiting.count) answers" }
            }
            for job in jobs {
                let there = try? await server.store.holdings(of: job)
                for laptop in laptops {
                    let here = try? await laptop.engine.store.holdings(of: job)
                    if let here, await laptop.engine.replicator.holdings(of: job) != here {
                        return "laptop \(laptop.index) tells others something else of \(job) than it holds"
                    }
                    guard isFor(laptop, job) else {
                        // All that it has written is there.
                        let own = here?.vector.entries.filter { laptop.names.contains($0.replica) } ?? []
                        if let lacking = own.first(where: { isLacking($0, in: there) }) {
                            let held = there.map { $0.vector[lacking.replica].sequence } ?? 0
                            return
                                "laptop \(laptop.index) is not on \(job), has its own \(lacking.brief), and the server \(held)"
                        }
                        continue
                    }
                    if here != there { return "laptop \(laptop.index) and the server differ in \(job)" }
                }
            }
            return nil
        }
    }
}
