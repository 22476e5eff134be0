import Storage

/// What people read on each device is what its journals say, worked out the slow and obvious way (`Reference`).
extension EngineCrew {
    func checkContents() throws {
        for laptop in laptops { try look(at: laptop.contents(), "laptop \(laptop.index)") }
        try look(at: server.store.copy(), role: .channel, "the server")
    }

    /// The power has just gone: what the disk holds is something that people can work with.
    func lookAtDisk(of laptop: Laptop) throws {
        try look(at: laptop.contents(), "the disk of laptop \(laptop.index)")
    }

    /// At a copy: nothing comes between one reading and the next.
    private func look(at contents: [UInt8], role: StoreRole = .laptop, _ name: String) throws {
        let store = try reading(contents, role: role)
        defer { try? store.close() }
        nonisolated(unsafe) let checker = checker
        nonisolated(unsafe) let holder = Holder(name, store: store)
        try scheduler.finish {
            holder.references = try await checker.read(holder)
            try await checker.lookAtAll(of: holder, isDeep: true)
        }
    }
}
