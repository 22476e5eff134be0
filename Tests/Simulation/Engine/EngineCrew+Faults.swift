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
            if laptop.backup == nil || generator.oneIn(3) { try laptop.backUp() } else { try setBack(laptop) }
        case .copy:
            let other = generator.pick(laptops)
            if other.index != laptop.index, generator.oneIn(3) { try copy(other, to: laptop) }
        case .removal: endJobs(by: laptop)
        case .sleep: generator.oneIn(10) ? everybodySleeps() : sleep(laptop)
        case .lie:
            let hours: UInt64 = generator.oneIn(2) ? 0 : generator.pick([1, 24, 87_600])
            laptop.lieMilliseconds = hours * 3_600_000
            if hours > 0 { counters[.lies] += 1 }
        case .serverSetBack: try setServerBack()
        case .crowd: sendCrowd()
        }
    }

    /// What only this disk held since is gone with its content, and no program can bring it back.
    func setBack(_ laptop: Laptop) throws {
        try laptop.crash()
        guard let backup = laptop.backup, laptop.canGetOtherDisk else { return restart(laptop) }
        counters[.setBacks] += 1
        scheduler.tell("laptop \(laptop.index) is set back")
        replace(laptop, by: backup, at: laptop.place)
        restart(laptop)
    }

    private func copy(_ other: Laptop, to laptop: Laptop) throws {
        try laptop.crash()
        guard laptop.canGetOtherDisk else { return restart(laptop) }
        // Two that do not know it have to meet each other to find out (docs/forks.md).
        let isNoticed = !network.isOfEverybody || generator.oneIn(2)
        counters[.copies] += 1
        if !isNoticed { counters[.unnoticedCopies] += 1 }
        scheduler.tell("laptop \(laptop.index) becomes a copy of \(other.index)")
        // What nobody has seen may stand in two journals from now on, and be placed in time twice.
        other.machine.shownCount += 1
        replace(laptop, by: try other.copyOfDisk(), at: isNoticed ? laptop.place : other.place)
        restart(laptop)
    }

    private func replace(_ laptop: Laptop, by contents: Laptop.DiskContents, at place: StorePlace) {
        forgetWords(onlyOn: laptop)
        checker.restoring(laptop.holder, to: contents.references, others: witnesses.map(\.holder))
        // Even a copy that knows what it is holds what may be stamped anew in the original.
        checker.forkable.insert(contents.replica)
        laptop.become(contents, at: place)
    }

    /// What a laptop may say to whoever wants something of it in this history.
    func isToldToPeople(_ error: StoreError) -> Bool {
        switch error.code {
        case .diskFull: faults.contains(.fullDisk) || moment == .unnotedTime
        case .unknownJob, .removedJob, .notLate: hasRemovals
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

    private func endJobs(by laptop: Laptop) {
        guard generator.oneIn(2) else {
            let accepts = generator.oneIn(2)
            for job in allJobs {
                decideLate(in: job, by: laptop, accepts: accepts) { [self] _ in generator.oneIn(2) }
            }
            return
        }
        if generator.oneIn(2) { remove(generator.pick(jobs), by: laptop) }
    }

    func remove(_ job: JobID, by laptop: Laptop) {
        guard laptop.isAwake else { return }
        begin(on: laptop) { [self] in
            try await laptop.remove(job)
            scheduler.tell("laptop \(laptop.index) has removed \(job)")
            counters[.removals] += 1
        }
    }

    /// A person looks through a job for late work.
    ///
    /// - Parameter names: whether they take or drop it.
    func decideLate(
        in job: JobID, by laptop: Laptop, accepts: Bool, naming names: @escaping @Sendable (QuarantinedChange) -> Bool
    ) {
        guard laptop.isAwake else { return }
        begin(on: laptop) { [self] in
            let decision = try await laptop.decideLate(in: job, accepts: accepts) { $0.filter(names) }
            guard let decision else { return }
            counters[.lateDecisions] += 1
            try checker.checkDecided(decision.named, in: decision.commits, of: job)
            if accepts { try checker.accepted(decision.named, as: decision.commits, by: laptop.holder, from: job) }
        }
    }
}
