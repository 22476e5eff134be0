import CRDT
import Engine
import Outbox
import Storage

/// What people read on each device in the end is what its journals say, worked out the slow and obvious way (`Reference`).
extension EngineCrew {
    var witnesses: [Witness] { laptops.map(\.witness) + [server.witness] }

    /// Nothing comes between one reading and the next any more, so that what running stores remember is read, too.
    func checkContents() throws {
        for witness in witnesses {
            nonisolated(unsafe) let (holder, checker) = (witness.holder, checker)
            try witness.look {
                try await checker.lookAtAll(of: holder, isDeep: true)
                if !holder.isChannel { try await checker.checkQueue(of: holder) }
                try await checker.checkAcknowledged(on: holder)
            }
        }
        try checkSettled()
    }

    /// What a person has asked for here waits in the queue until this laptop's journals say what became of it: no other laptop
    /// that may deliver it excuses this one.
    func lookAtQueue(of laptop: Laptop) throws {
        guard laptop.isAwake else { return }
        let outbox = laptop.engine.outbox
        let queue = try scheduler.finish { Set(await outbox.queue.map(\.entry.token)) }
        counters[.queues] += 1
        for (job, reference) in laptop.holder.references where !reference.isRemoved {
            let lost = RequestStanding(reference).pending.intersection(laptop.asked).subtracting(queue)
            guard let first = lost.min() else { continue }
            throw Violation(
                "liveness", "laptop \(laptop.index) has forgotten \(first) of \(job), which nobody has decided.")
        }
    }

    private func checkSettled() throws {
        nonisolated(unsafe) var devices: [(holder: Holder, notShown: Set<MutationToken>)] = []
        for laptop in laptops {
            let outbox = laptop.engine.outbox
            devices.append((laptop.holder, try scheduler.finish { await outbox.notShown }))
        }
        nonisolated(unsafe) let (all, holder, checker) = (devices, server.holder, checker)
        for job in holder.jobs {
            try server.witness.look {
                try checker.checkChannel(of: holder, job)
                try await checker.checkSettled(holder, all, job)
            }
        }
    }

    // MARK: The end of jobs

    /// Nobody is away for ever, so nothing may stay behind for ever (rule R10): what went with removed jobs is freed, then a
    /// person deals with the late work, and after that nothing is left of it to deal with.
    func tidyUp() throws {
        guard server.holder.references.values.contains(where: \.isRemoved) else { return }
        var rounds = 0
        while hasLateWork {
            guard rounds < 2 * laptops.count else {
                throw Violation("liveness", "late work is left, though a person has dealt with it.")
            }
            let laptop = laptops[rounds % laptops.count]
            rounds += 1
            let accepts = generator.oneIn(2)
            // Each other time about a part of it: the rest stays listed.
            let isAll = rounds.isMultiple(of: 2)
            for job in allJobs {
                decideLate(in: job, by: laptop, accepts: accepts) { [self] _ in isAll || generator.oneIn(2) }
            }
            try agree()
        }
        for witness in witnesses {
            nonisolated(unsafe) let (holder, checker) = (witness.holder, checker)
            let store = holder.store
            try scheduler.finish { try await store.freeRemoved() }
            try witness.look { try await checker.checkFreed(on: holder) }
        }
        try checkContents()
    }

    private var hasLateWork: Bool { server.holder.references.values.contains { !$0.late.isEmpty } }
}
