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

    private func look(at store: Store, _ name: String) throws {
        nonisolated(unsafe) let checker = checker
        nonisolated(unsafe) let holder = Holder(name, store: store)
        try scheduler.finish {
            holder.references = try await checker.read(holder)
            try await checker.lookAtAll(of: holder, isDeep: true)
        }
    }
}
