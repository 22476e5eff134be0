import CRDT
import Engine
import Outbox
import Storage

/// What people read on each device is what its journals say, worked out the slow and obvious way (`Reference`).
extension EngineCrew {
    /// Nothing comes between one reading and the next any more, so that what running stores remember is read, too.
    func checkContents() throws {
        for laptop in laptops { try look(at: laptop.engine.store, "laptop \(laptop.index)") }
        try look(at: server.store, "the server")
    }

    /// If the power went now: what the disk holds is something that people can work with.
    func lookAtDisk(of laptop: Laptop) throws {
        let store = try reading(laptop.contents())
        defer { try? store.close() }
        try look(at: store, "the disk of laptop \(laptop.index)")
    }

    /// What a person has asked for waits in the queue until the journals say what became of it: no other laptop that may
    /// deliver it excuses this one.
    func lookAtQueue(of laptop: Laptop) throws {
        guard laptop.isAwake else { return }
        let (engine, asked) = (laptop.engine, laptop.asked.filter { !$0.isExcused && !dropped.contains($0.token) })
        let lost = try scheduler.finish {
            // First: what has left it since is settled by now.
            let queue = Set(await engine.outbox.queue.map(\.entry.token))
            var lost: MutationToken?
            for own in asked where !queue.contains(own.token) {
                guard try await engine.store.removal(of: own.job) == nil,
                    try await engine.store.outcome(of: own.token, job: own.job) == nil
                else { continue }
                lost = own.token
            }
            return lost
        }
        counters[.queues] += 1
        guard let lost else { return }
        throw Violation("liveness", "laptop \(laptop.index) has forgotten \(lost), which nobody has decided.")
    }

    private func look(at store: Store, _ name: String) throws {
        nonisolated(unsafe) let checker = checker
        nonisolated(unsafe) let holder = Holder(name, store: store)
        try scheduler.finish {
            holder.references = try await checker.read(holder)
            try await checker.lookAtAll(of: holder, isDeep: true)
        }
    }
}
