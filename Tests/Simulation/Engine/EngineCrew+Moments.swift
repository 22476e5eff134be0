import CRDT
import Replication
import Storage

/// Moments that chance brings about too seldom, as the last thing that people and accidents do. Each found a mistake once, or
/// is what a sabotage needs.
extension EngineCrew {
    enum Moment: Int {
        /// Who was set back writes exactly as much as was lost: both journals have one length.
        case twins
        /// Who has yet to hear what the server said gets journals of others who knew it, and writes.
        case strangersWithNews
        /// The server holds one branch of a journal, and another laptop brings it the other one.
        case forkAtServer
        /// The server holds one branch of what is left of a journal in a removed job, and its laptop goes on with another one.
        case forkAfterRemoval
        /// Who does not know the time takes late work over, and then learns the time.
        case rescueWithoutTime
        /// Two remove a job who do not know of each other, and one of them holds more of it.
        case twoRemovers
        /// The time cannot be noted, as the disk is full.
        case unnotedTime

        /// It is not looked at together with words about who is on a job.
        var isApart: Bool {
            switch self {
            case .forkAfterRemoval, .rescueWithoutTime, .twoRemovers: true
            case .twins, .forkAtServer, .strangersWithNews, .unnotedTime: false
            }
        }
    }

    /// Whether jobs may end in this history, and disks be set back or copied.
    var hasRemovals: Bool {
        faults.contains(.removal) || [.forkAfterRemoval, .rescueWithoutTime, .twoRemovers].contains(moment)
    }
    var hasForks: Bool {
        !faults.isDisjoint(with: [.setBack, .copy]) || [.twins, .forkAtServer, .forkAfterRemoval].contains(moment)
    }

    func bringMomentAbout() throws {
        guard let moment else { return }
        let (first, second) = (laptops[0], laptops[1])
        scheduler.tell("the moment of \(moment)")
        server.isBusy = false
        network.heal()
        // Who knows the time would tell it.
        if moment == .rescueWithoutTime { traitor?.leave() }
        for laptop in laptops { try bringUp(laptop) }
        pass(seconds: 20)
        switch moment {
        case .twins: try twins(first)
        case .strangersWithNews: try strangersWithNews(first, from: second)
        case .forkAtServer: try forkAtServer(first, second)
        case .forkAfterRemoval: try forkAfterRemoval(first, second)
        case .rescueWithoutTime: try rescueWithoutTime(first, second)
        case .twoRemovers: try twoRemovers(first, second)
        case .unnotedTime: try unnotedTime(first)
        }
    }

    // MARK: What they are made of

    private func pass(seconds: Int64) { scheduler.run(until: scheduler.now + seconds * 1_000_000) }

    private func bringUp(_ laptop: Laptop) throws {
        laptop.machine.processor.wakeUp()
        laptop.isDiskFull = false
        laptop.lieMilliseconds = 0
        if !laptop.isUp { try scheduler.finish { try await laptop.restart(reboots: false) } }
    }

    private func cutOff(_ laptop: Laptop) {
        for other in laptops where other.index != laptop.index { network.cut(laptop.index, other.index) }
        if let traitor { network.cut(laptop.index, traitor.index) }
    }

    /// So that it stands on the disk.
    private func write(_ count: Int, by laptop: Laptop, in job: JobID) {
        for _ in 0..<count {
            write(by: laptop, in: job)
            pass(seconds: 3)
        }
    }

    // MARK: Forks

    private func twins(_ laptop: Laptop) throws {
        let (job, count) = (generator.pick(jobs), Int.random(in: 1...3, using: &generator))
        write(1, by: laptop, in: job)
        try laptop.backUp()
        write(count, by: laptop, in: job)
        pass(seconds: 45)
        cutOff(laptop)
        setRoute(of: laptop, isUp: false)
        try setBack(laptop)
        pass(seconds: 5)
        write(count, by: laptop, in: job)
        counters[.twins] += 1
    }

    private func forkAtServer(_ laptop: Laptop, _ other: Laptop) throws {
        let job = generator.pick(jobs)
        write(1, by: laptop, in: job)
        pass(seconds: 20)
        cutOff(laptop)
        try laptop.backUp()
        setRoute(of: laptop, isUp: true)
        // The longer branch stays: the server's, or the one that it is brought.
        write(generator.pick([1, 3, 8]), by: laptop, in: job)
        pass(seconds: 45)
        setRoute(of: laptop, isUp: false)
        try setBack(laptop)
        pass(seconds: 5)
        setRoute(of: laptop, isUp: false)
        write(Int.random(in: 1...3, using: &generator), by: laptop, in: job)
        setRoute(of: other, isUp: true)
        network.heal()
        pass(seconds: 60)
        counters[.forksAtServer] += 1
    }

    private func forkAfterRemoval(_ laptop: Laptop, _ remover: Laptop) throws {
        let (job, count) = (generator.pick(jobs), Int.random(in: 1...3, using: &generator))
        write(count, by: laptop, in: job)
        pass(seconds: 45)
        setRoute(of: laptop, isUp: false)
        cutOff(laptop)
        setRoute(of: remover, isUp: true)
        remove(job, by: remover)
        pass(seconds: 45)
        try laptop.backUp()
        write(count, by: laptop, in: job)
        setRoute(of: laptop, isUp: true)
        pass(seconds: 45)
        setRoute(of: laptop, isUp: false)
        try setBack(laptop)
        pass(seconds: 5)
        setRoute(of: laptop, isUp: false)
        write(count, by: laptop, in: job)
        setRoute(of: laptop, isUp: true)
        counters[.lateForks] += 1
    }

    // MARK: Removed jobs

    private func twoRemovers(_ laptop: Laptop, _ other: Laptop) throws {
        let job = generator.pick(jobs)
        write(1, by: laptop, in: job)
        write(1, by: other, in: job)
        pass(seconds: 45)
        for each in laptops {
            cutOff(each)
            setRoute(of: each, isUp: false)
        }
        write(Int.random(in: 1...3, using: &generator), by: laptop, in: job)
        write(Int.random(in: 0...2, using: &generator), by: other, in: job)
        remove(job, by: laptop)
        remove(job, by: other)
        pass(seconds: 10)
        counters[.twoRemovers] += 1
    }

    /// Nobody knows the time, and the crew agrees on the earliest clock, which is two hours late.
    private func rescueWithoutTime(_ author: Laptop, _ remover: Laptop) throws {
        let job = generator.pick(jobs)
        for laptop in laptops {
            setRoute(of: laptop, isUp: false)
            try laptop.crash()
        }
        remover.machine.clock.jumpWall(by: -7_200_000_000)
        for laptop in laptops { try scheduler.finish { try await laptop.restart(reboots: true) } }
        pass(seconds: 5)
        write(1, by: author, in: job)
        pass(seconds: 20)
        cutOff(author)
        remove(job, by: remover)
        write(4, by: author, in: job)
        network.heal()
        pass(seconds: 40)
        cutOff(remover)
        pass(seconds: 5)
        decideLate(in: job, by: remover, accepts: true) { _ in true }
        pass(seconds: 5)
        setRoute(of: remover, isUp: true)
        pass(seconds: 20)
        counters[.rescues] += 1
    }

    // MARK: Time

    private func strangersWithNews(_ laptop: Laptop, from peer: Laptop) throws {
        let job = generator.pick(jobs)
        write(1, by: laptop, in: job)
        pass(seconds: 20)
        let said = server.holder[job].head(of: .channel).sequence
        for index in 0..<2 {
            let segment = try stranger(index, in: job, knowing: said + 3, at: server.now.milliseconds)
            checker.wroteElsewhere(segment, of: job)
            guard network.forge(.delta(job: job, segment, pushed: false), from: peer.index, to: laptop.index) else {
                continue
            }
            counters[.strangersWithNews] += 1
        }
        pass(seconds: 2)
        write(1, by: laptop, in: job)
    }

    private func unnotedTime(_ laptop: Laptop) throws {
        let job = generator.pick(jobs)
        cutOff(laptop)
        setRoute(of: laptop, isUp: false)
        try laptop.crash()
        laptop.machine.clock.jumpWall(by: 1_800_000_000)
        try scheduler.finish { try await laptop.restart(reboots: true) }
        write(2, by: laptop, in: job)
        laptop.isDiskFull = true
        setRoute(of: laptop, isUp: true)
        pass(seconds: 30)
        laptop.isDiskFull = false
        pass(seconds: 30)
        counters[.unnotedTimes] += 1
    }
}
