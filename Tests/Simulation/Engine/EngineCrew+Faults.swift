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
        /// Lids are closed, for a while or for hours.
        case sleep
        /// People write with a clock that is ahead of what the daemon knows of the time.
        case lie
        /// An older content is put back on the server's disk, and its people notice or not.
        case serverSetBack
        /// A crew that was renewed often has been to the office: as many journals, with a word in each.
        case crowd

        static func < (left: Fault, right: Fault) -> Bool { left.rawValue < right.rawValue }
    }

    func suffer(_ fault: Fault, _ laptop: Laptop) throws {
        scheduler.tell("\(fault) at laptop \(laptop.index)")
        switch fault {
        case .fullDisk:
            if !laptop.isDiskFull { counters[.fullDisks] += 1 }
            laptop.isDiskFull.toggle()
        case .setBack:
            guard laptop.hasBackup, !generator.oneIn(3) else { return try laptop.backUp() }
            try laptop.crash()
            let lost = try laptop.contents()
            guard laptop.setBack() else { return restart(laptop) }
            counters[.setBacks] += 1
            scheduler.tell("laptop \(laptop.index) is set back")
            try excuse(laptop)
            try excuse(lost)
            restart(laptop)
        case .copy:
            let other = generator.pick(laptops)
            guard other.index != laptop.index, generator.oneIn(3) else { return }
            try laptop.crash()
            let lost = try laptop.contents()
            // Two that do not know it have to meet each other to find out (docs/forks.md).
            let isNoticed = !network.isOfEverybody || generator.oneIn(2)
            guard try laptop.becomeCopy(of: other, isNoticed: isNoticed) else { return }
            counters[.copies] += 1
            if !isNoticed { counters[.unnoticedCopies] += 1 }
            scheduler.tell("laptop \(laptop.index) becomes a copy of \(other.index)")
            // What nobody has seen may stand in two journals from now on, and be placed in time twice.
            other.machine.shownCount += 1
            doubtful.formUnion(other.names)
            doubtful.insert(other.engine.store.identity.replica)
            try excuse(laptop)
            try excuse(lost)
            restart(laptop)
        case .removal: generator.oneIn(2) ? decideLate(by: laptop) : remove(by: laptop)
        case .sleep: generator.oneIn(10) ? everybodySleeps() : sleep(laptop)
        case .lie:
            let hours: UInt64 = generator.oneIn(2) ? 0 : generator.pick([1, 24, 87_600])
            laptop.lieMilliseconds = hours * 3_600_000
            if hours > 0 { counters[.lies] += 1 }
        case .serverSetBack: try setServerBack()
        case .crowd: sendCrowd()
        }
    }

    private func excuse(_ laptop: Laptop) throws {
        forgetDecisions(by: laptop.index)
        doubtful.formUnion(laptop.names)
    }

    /// What only this disk held is gone with its content, and no program can bring it back.
    func excuse(_ lost: [UInt8], role: StoreRole = .laptop) throws {
        let gone = try reading(lost, role: role)
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
        let forgotten = try scheduler.finish { [jobs] in
            var forgotten: Set<MutationToken> = []
            for job in jobs { forgotten.formUnion(try await gone.decidedTokens(of: job)) }
            for store in left + [server] {
                for job in jobs { forgotten.subtract(try await store.decidedTokens(of: job)) }
            }
            return forgotten
        }
        self.server.forget(forgotten)
    }

    func reading(_ contents: [UInt8], role: StoreRole = .laptop) throws -> Store {
        try Store.openInMemory(
            contents: contents, place: StorePlace(machine: "reader", file: "1"), hostName: "reader", role: role,
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

    // MARK: Lids

    private func sleep(_ laptop: Laptop) {
        guard laptop.isAwake else { return }
        counters[.sleeps] += 1
        let processor = laptop.machine.processor
        processor.fallAsleep()
        let wait = Int64.random(in: 0...generator.pick([2_000, 120_000]), using: &generator) * 1_000
        Task(executorPreference: scheduler) { [scheduler] in
            await scheduler.pass(microseconds: wait)
            processor.wakeUp()
        }
    }

    private func everybodySleeps() {
        let processors = laptops.map(\.machine.processor)
        for processor in processors { processor.fallAsleep() }
        counters[.sleeps] += 1
        scheduler.run(until: scheduler.now + Int64.random(in: 0...21_600, using: &generator) * 1_000_000)
        for processor in processors { processor.wakeUp() }
    }

    // MARK: The end of jobs

    private func remove(by laptop: Laptop) {
        guard laptop.isAwake, generator.oneIn(2) else { return }
        let job = generator.pick(jobs)
        begin(on: laptop) { [self] in
            try await laptop.remove(job)
            scheduler.tell("laptop \(laptop.index) has removed \(job)")
            counters[.removals] += 1
        }
    }

    /// A person looks through all jobs for late work.
    private func decideLate(by laptop: Laptop) {
        guard laptop.isAwake else { return }
        let accepts = generator.oneIn(2)
        for job in jobs {
            begin(on: laptop) { [self] in
                let decision = try await laptop.decideLate(in: job, accepts: accepts) { late in
                    let named = late.filter { _ in generator.oneIn(2) }
                    expect(Set(named.flatMap(\.change.texts)), settledIn: job)
                    return named
                }
                guard let decision else { return }
                counters[.lateDecisions] += 1
                settle(decision, of: job)
            }
        }
    }
}
