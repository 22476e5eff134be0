import CRDT
import Storage

/// What happens to disks, and to whole jobs.
extension EngineCrew {
    enum Fault: Int, CaseIterable, Comparable {
        /// A disk is full for a while.
        case fullDisk
        /// An older content is put back on a disk, and nobody tells the store.
        case setBack
        /// A disk becomes a copy of another laptop's.
        case copy
        /// People remove jobs, and deal with what comes late.
        case removal

        static func < (left: Fault, right: Fault) -> Bool { left.rawValue < right.rawValue }
    }

    func suffer(_ fault: Fault, _ laptop: Laptop) throws {
        switch fault {
        case .fullDisk:
            if !laptop.isDiskFull { counters.fullDisks += 1 }
            laptop.isDiskFull.toggle()
        case .setBack:
            guard generator.oneIn(2) else { return try laptop.backUp() }
            try laptop.crash()
            let lost = try laptop.contents()
            guard laptop.setBack() else { return restart(laptop) }
            counters.setBacks += 1
            try excuse(laptop, lost)
            restart(laptop)
        case .copy:
            let other = generator.pick(laptops)
            guard other.index != laptop.index, generator.oneIn(3) else { return }
            try laptop.crash()
            let lost = try laptop.contents()
            guard try laptop.becomeCopy(of: other, isNoticed: generator.oneIn(2)) else { return }
            counters.copies += 1
            // What nobody has seen may stand in two journals from now on, and be placed in time twice.
            other.machine.shownCount += 1
            doubtful.formUnion(other.names)
            doubtful.insert(other.engine.store.identity.replica)
            try excuse(laptop, lost)
            restart(laptop)
        case .removal: generator.oneIn(2) ? decideLate(by: laptop) : remove(by: laptop)
        }
    }

    /// What only this disk held is gone with its content, and no program can bring it back.
    private func excuse(_ laptop: Laptop, _ lost: [UInt8]) throws {
        forgetDecisions(by: laptop.index)
        doubtful.formUnion(laptop.names)
        let gone = try reading(lost)
        let left = try laptops.map { try reading($0.contents()) }
        defer { for store in left + [gone] { try? store.close() } }
        let server = server.store
        for job in jobs {
            let written = Set((acknowledged[job] ?? [:]).keys)
            let texts = try scheduler.finish {
                // With the word that the job was removed goes why its work is nowhere.
                let isRemoved = try await gone.removal(of: job) != nil
                var texts = isRemoved ? written : try await EngineChange.texts(of: job, in: gone)
                for store in left + [server] { texts.subtract(try await EngineChange.texts(of: job, in: store)) }
                return texts
            }
            for text in texts { acknowledged[job]?[text] = nil }
        }
    }

    private func reading(_ contents: [UInt8]) throws -> Store {
        try Store.openInMemory(
            contents: contents, place: StorePlace(machine: "reader", file: "1"), hostName: "reader",
            generator: &generator)
    }

    /// What a laptop may say to whoever wants something of it in this history.
    func isToldToPeople(_ error: StoreError) -> Bool {
        switch error.code {
        case .diskFull: faults.contains(.fullDisk)
        case .unknownJob, .removedJob, .notLate: faults.contains(.removal)
        default: false
        }
    }

    // MARK: The end of jobs

    private func remove(by laptop: Laptop) {
        guard laptop.isUp, generator.oneIn(2) else { return }
        let job = generator.pick(jobs)
        begin { [self] in
            try await laptop.remove(job)
            counters.removals += 1
        }
    }

    /// A person looks through all jobs for late work.
    private func decideLate(by laptop: Laptop) {
        guard laptop.isUp else { return }
        let accepts = generator.oneIn(2)
        for job in jobs {
            begin { [self] in
                let decision = try await laptop.decideLate(in: job, accepts: accepts) { late in
                    let named = late.filter { _ in generator.oneIn(2) }
                    expect(Set(named.flatMap(\.change.texts)), settledIn: job)
                    return named
                }
                guard let decision else { return }
                counters.lateDecisions += 1
                settle(decision, of: job)
            }
        }
    }
}
