import CRDT
import Engine
import Inventory
import Outbox
import Replication
import ServerChannel
import Storage
import Timekeeping

/// One history: people work, things break, and in the end everybody has to agree.
final class EngineCrew: @unchecked Sendable {
    let scheduler: Scheduler
    let network: MemoryNetwork
    let server: SimulatedServer
    let laptops: [Laptop]
    /// One more who was let in, and tells lies.
    let traitor: Traitor?
    /// Nil where every job is everybody's.
    let membership: Membership?
    /// Laptops under whose name something came that they have not sent.
    var maligned: Set<DeviceID> = []
    /// In which people work.
    let jobs: [JobID]
    /// What this history has beside what each has.
    let faults: Set<Fault>
    /// What is brought about at the end; every eighth history has none.
    let moment: Moment?
    var generator: SeededGenerator
    var counters = EngineCounters()
    nonisolated(unsafe) let checker = Checker()
    /// What people wrote and were told that it is kept, by job and text: when that was.
    var written: [JobID: [String: Written]] = [:]
    /// What people were told that it is not kept.
    var refused: Set<String> = []
    var writes = 0
    /// Nobody writes any more.
    var arePeopleDone = false
    var failure: (any Error)?

    /// An acknowledged write.
    struct Written {
        let laptop: Int
        /// True time in milliseconds since 1970 when it was asked for.
        let begun: UInt64
        /// How far off the laptop said that its clock might be, in milliseconds.
        let doubt: UInt64
        /// The laptop knew the server's time all along.
        let isSynchronised: Bool
        /// What the laptop's machine had shown then, and which boot that was; nil when it knew the time.
        let unseen: (shownCount: Int, boot: String)?
    }

    init(seed: UInt64, scheduler: Scheduler) throws {
        self.scheduler = scheduler
        var generator = SeededGenerator(seed: seed ^ 0xe9_61_4e)
        // Of many jobs there are many first changes, of which the mesh has not heard yet.
        jobs = (0..<(generator.oneIn(2) ? 12 : 2)).map { JobID(ItemID(UInt128(7 + $0))) }
        let count = Int.random(in: 2...4, using: &generator)
        let membership = try Membership(seed: seed, crew: count, jobs: jobs)
        self.membership = membership
        let moment = Moment(rawValue: Int(seed % 8)).flatMap { membership == nil || !$0.isApart ? $0 : nil }
        self.moment = moment
        var faults = Set(Fault.allCases.filter { _ in generator.oneIn(2) })
        if membership != nil { faults.subtract(Self.facultative) }
        self.faults = faults
        let topology = generator.oneIn(2) ? .everybody : generator.pick(MemoryNetwork.Topology.allCases)
        let gateway = Int.random(in: 0..<count, using: &generator)
        let profiles = (0..<count).map { index in
            var profile = VirtualClock.Profile()
            profile.partsPerMillion = Int64.random(in: -100...100, using: &generator)
            let hours = generator.oneIn(2) ? Int64.random(in: -30...30, using: &generator) : 0
            profile.wallErrorMilliseconds = hours * 3_600_000
            profile.reachesServer = index == gateway || generator.oneIn(3)
            return profile
        }
        // Longer than any history: what has to get to the server must be brought by what happened, not by the clock. But of
        // room on a disk nobody is told, nor of a server that was set back.
        // Who is not on a job passes nothing of it on, so that some hear of it by the server alone.
        let polls =
            membership != nil || !faults.isDisjoint(with: [.fullDisk, .serverSetBack]) || moment == .unnotedTime
        let pollInterval: UInt64 = polls ? 600_000 : 7 * 86_400_000
        switch topology {
        case .everybody: break
        case .chain: counters[.chains] += 1
        case .star: counters[.stars] += 1
        }
        let network = MemoryNetwork(seed: seed, topology: topology, scheduler: scheduler)
        let server = try SimulatedServer(
            seed: seed, acknowledges: polls, checker: checker, scheduler: scheduler, membership: membership)
        (self.network, self.server) = (network, server)
        nonisolated(unsafe) let checker = checker
        membership?.isSaying = { checker.assigned.insert($0) }
        laptops = try scheduler.finish {
            var laptops: [Laptop] = []
            for (index, profile) in profiles.enumerated() {
                laptops.append(
                    try await Laptop.start(
                        index, ofCrew: count, seed: seed, profile: profile, network: network, server: server,
                        pollInterval: pollInterval, checker: checker, membership: membership))
            }
            return laptops
        }
        traitor = try Self.traitor(seed: seed, network, laptops, jobs, membership)
        self.generator = generator
        watch()
        letTraitorIn()
    }

    /// Everything that must not be ends the history; and what leaves a laptop is looked at.
    private func watch() {
        for witness in witnesses { witness.fail = { [unowned self] in fail($0) } }
        server.isRemembered = { [unowned self] token, job in
            laptops.contains { RequestStanding($0.holder[job], of: job).outcomes[token] != nil }
        }
        network.isSending = { [unowned self] index, message, other in
            guard index < laptops.count else { return }
            do {
                try checker.sent(message, by: laptops[index].holder)
                try lookAt(message, from: index, to: other)
            } catch { fail(error) }
        }
        for laptop in laptops {
            laptop.engine.way.isAnswered = { [unowned self] in writeWhileTimeIsLearned(by: laptop) }
            laptop.engine.way.isBringing = { [unowned self] segments, job in
                do {
                    for segment in segments { try checker.showed(segment, of: job, by: laptop.holder) }
                } catch { fail(error) }
            }
        }
        network.isAnswered = { [unowned self] in writeWhileTimeIsLearned(by: laptops[$0]) }
    }

    /// Those into which late work was taken, too.
    var allJobs: [JobID] { Set(witnesses.flatMap(\.holder.jobs)).union(jobs).sorted() }

    /// Gives the memory of all disks back; nothing runs any more after it.
    func close() {
        traitor?.leave()
        for store in laptops.flatMap(\.stores) + server.stores { try? store.close() }
    }

    // MARK: Work

    func work() throws {
        for laptop in laptops.dropFirst() where generator.oneIn(6) {
            counters[.lateJoins] += 1
            scheduler.tell("laptop \(laptop.index) comes later")
            try laptop.crash()
        }
        for laptop in laptops where generator.oneIn(2) { writeMuch(by: laptop) }
        for _ in 0..<Int.random(in: 30...70, using: &generator) {
            // Much at once, so that one thing comes between the awaits of another.
            let wait =
                generator.oneIn(3) ? 0 : Int64.random(in: 1...generator.pick([20, 400, 4_000]), using: &generator)
            scheduler.run(until: scheduler.now + wait * 1_000)
            if let failure = failure ?? server.violation { throw failure }
            try checkClocks()
            try step()
            try speak()
            if generator.oneIn(3) { try lookAtQueue(of: generator.pick(laptops)) }
        }
        try bringMomentAbout()
        // Much at the very end, so that nothing later brings what nobody was told of; but twins stay as long as each other.
        if moment != .twins { for laptop in laptops.prefix(2) { writeMuch(by: laptop) } }
        // What is written from now on might not be everywhere when the crew has agreed.
        for laptop in laptops { laptop.engine.way.isAnswered = {} }
        network.isAnswered = { _ in }
        scheduler.run(until: scheduler.now + 5_000_000)
    }

    private func step() throws {
        let laptop = generator.pick(laptops)
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<14 where !faults.isEmpty: try suffer(generator.pick(faults.sorted()), laptop)
        case ..<16: importMuch(by: laptop)
        case ..<19: writeTogether(by: laptop)
        case ..<55: write(by: laptop)
        case ..<70: ask(by: laptop)
        case ..<76:
            let other = generator.pick(laptops)
            if other.index != laptop.index { disturb(laptop.index, other.index) }
        case ..<82:
            scheduler.tell("all ways are mended")
            network.heal()
        case ..<87:
            guard laptop.isUp else { return }
            counters[.crashes] += 1
            scheduler.tell("laptop \(laptop.index) crashes")
            try laptop.crash()
        case ..<92:
            restart(laptop)
            writeMuch(by: laptop)
        case ..<96: setRoute(of: laptop, isUp: generator.oneIn(2))
        case ..<98:
            server.isBusy = generator.oneIn(2)
            if server.isBusy { counters[.busyServer] += 1 }
            scheduler.tell("the server is \(server.isBusy ? "busy" : "well")")
            guard generator.oneIn(3) else { return }
            counters[.serverStops] += 1
            scheduler.tell("the server stops and starts")
            try server.restart()
        default:
            counters[.wallJumps] += 1
            scheduler.tell("somebody sets the wall clock of laptop \(laptop.index)")
            laptop.machine.clock.jumpWall(by: Int64.random(in: -40...40, using: &generator) * 1_800_000_000)
        }
    }

    /// Begins what somebody wants of a laptop. What a person is told instead is no failure.
    func begin(on laptop: Laptop, _ body: @escaping @Sendable () async throws -> Void) {
        Task(executorPreference: laptop.machine.processor) { [self] in
            do { try await body() } catch let error as StoreError where isToldToPeople(error) {
                counters[.refused] += 1
            } catch { fail(error) }
        }
    }

    /// Something came that must not come; the history ends with it.
    func fail(_ error: any Error) {
        scheduler.tell("\(error)")
        failure = failure ?? error
    }

    private func ask(by laptop: Laptop) {
        guard laptop.isAwake else { return }
        let job = generator.pick(jobs)
        let chance = Int.random(in: 0..<12, using: &generator)
        begin(on: laptop) { [self] in
            switch chance {
            case 0: if try await laptop.drop() { counters[.dropped] += 1 }
            case 1...6: if try await laptop.signOff(job, isForgery: chance == 1) { counters[.signOffs] += 1 }
            // What a lane holds waits for what is before it.
            case 7...9: for _ in 0..<3 { try await laptop.ask(about: job) }
            default: try await laptop.ask(about: job)
            }
        }
    }

    func restart(_ laptop: Laptop) {
        guard !laptop.isUp else { return }
        let reboots = generator.oneIn(2)
        scheduler.tell("laptop \(laptop.index) starts\(reboots ? " after a reboot" : "")")
        // With a full disk the daemon does not start; it is tried again later.
        begin(on: laptop) { try await laptop.restart(reboots: reboots) }
    }

    func setRoute(of laptop: Laptop, isUp: Bool) {
        scheduler.tell("laptop \(laptop.index) has \(isUp ? "a" : "no") way to the server")
        if laptop.engine.way.isUp, !isUp { counters[.lostRoutes] += 1 }
        laptop.engine.way.isUp = isUp
        guard laptop.isUp else { return }
        let engine = laptop.engine
        // Who sleeps is told later, and then how it is.
        begin(on: laptop) { await engine.gateway.routesChanged(engine.way.isUp ? nil : RouteTable()) }
    }
}
