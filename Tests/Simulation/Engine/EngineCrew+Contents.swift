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
            nonisolated(unsafe) let isExpected = isExpected(on: holder)
            try witness.look {
                try await checker.lookAtAll(of: holder, isDeep: true)
                if !holder.isChannel { try await checker.checkQueue(of: holder) }
                try await checker.checkAcknowledged(on: holder, where: isExpected)
            }
        }
        try checkSettled()
    }

    /// What a person has asked for here waits in the queue until this laptop's journals say what became of it: no other laptop
    /// that may deliver it excuses this one.
    func lookAtQueue(of laptop: Laptop) throws {
        guard laptop.isAwake else { return }
        counters[.queues] += 1
        var lost = try forgotten(by: laptop)
        // What came back with journals after the disk was set back is durable before the disk says so, and only then is the outbox
        // told. Nothing else excuses it, and it has to come.
        while !lost.isEmpty, lost.keys.allSatisfy({ isNews($0, to: laptop) }) {
            scheduler.run(until: scheduler.now + 50_000)
            lost = try forgotten(by: laptop)
        }
        guard let (token, job) = lost.min(by: { $0.key < $1.key }) else { return }
        throw Violation(
            "liveness", "laptop \(laptop.index) has forgotten \(token) of \(job), which nobody has decided.")
    }

    /// What its people have asked for, is open by its journals and not in its queue, with the job.
    func forgotten(by laptop: Laptop) throws -> [MutationToken: JobID] {
        let outbox = laptop.engine.outbox
        let queue = try scheduler.finish { Set(await outbox.queue.map(\.entry.token)) }
        var lost: [MutationToken: JobID] = [:]
        for (job, reference) in laptop.holder.references where !reference.isRemoved {
            for token in RequestStanding(reference, of: job).pending.intersection(laptop.asked).subtracting(queue) {
                lost[token] = job
            }
        }
        return lost
    }

    private func isNews(_ token: MutationToken, to laptop: Laptop) -> Bool {
        laptop.holder.openSince[token].map { scheduler.now < $0 + Self.telling } ?? false
    }

    /// How long the outbox may take to hear of a request that a journal has brought, in microseconds: a few writes of half a second.
    private static let telling: Int64 = 3_000_000

    private func checkSettled() throws {
        var devices: [(laptop: Laptop, notShown: Set<MutationToken>)] = []
        for laptop in laptops {
            let outbox = laptop.engine.outbox
            devices.append((laptop, try scheduler.finish { await outbox.notShown }))
        }
        nonisolated(unsafe) let (holder, checker) = (server.holder, checker)
        for job in holder.jobs {
            nonisolated(unsafe) let all = devices.filter { isFor($0.laptop, job) }.map {
                (holder: $0.laptop.holder, notShown: $0.notShown)
            }
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
