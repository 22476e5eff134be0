import CRDT
import Engine
import Inventory
import Outbox
import ServerChannel
import Storage

/// One history: people work, things break, and in the end everybody has to agree.
final class EngineCrew: @unchecked Sendable {
    /// How long agreement may take when nothing breaks any more: longer than all back-off together.
    private static let patience: Int64 = 3_600_000_000

    let scheduler: Scheduler
    let network: MemoryNetwork
    let server: SimulatedServer
    let laptops: [Laptop]
    /// Those that late work was taken into come last.
    private(set) var jobs: [JobID]
    /// What this history has beside what each has.
    let faults: Set<Fault>
    var generator: SeededGenerator
    var counters = EngineCounters()
    /// What people wrote and were told that it is kept, by job and text.
    var acknowledged: [JobID: [String: Written]] = [:]
    /// What people may have dealt with of the late work, by job and text.
    private(set) var settled: [JobID: Set<String>] = [:]
    /// Names that two disks may have borne: what stood under them may have been issued again under another one.
    var doubtful: Set<ReplicaID> = []
    private(set) var decisions: [(job: JobID, decision: LateDecision)] = []
    /// What people were told that it is not kept.
    private(set) var refused: Set<String> = []
    private var writes = 0
    private var failure: (any Error)?

    /// An acknowledged write.
    struct Written {
        let laptop: Int
        /// Its place in the journal into which it was written.
        let dot: Dot
        /// True time in milliseconds since 1970 when it was asked for.
        let begun: UInt64
        /// The laptop knew the server's time all along.
        let isSynchronised: Bool
        /// What the laptop's machine had shown then, and which boot that was; nil when it knew the time.
        let unseen: (shownCount: Int, boot: String)?
    }

    init(seed: UInt64, scheduler: Scheduler) throws {
        self.scheduler = scheduler
        var generator = SeededGenerator(seed: seed ^ 0xe9_61_4e)
        network = MemoryNetwork(seed: seed, scheduler: scheduler)
        server = try SimulatedServer(seed: seed, scheduler: scheduler)
        // Of many jobs there are many first changes, of which the mesh has not heard yet.
        jobs = (0..<(generator.oneIn(4) ? 12 : 2)).map { JobID(ItemID(UInt128(7 + $0))) }
        let count = Int.random(in: 2...4, using: &generator)
        faults = Set(Fault.allCases.filter { _ in generator.oneIn(2) })
        let gateway = Int.random(in: 0..<count, using: &generator)
        let profiles = (0..<count).map { index in
            var profile = Plan.ClockProfile()
            profile.partsPerMillion = Int64.random(in: -100...100, using: &generator)
            let hours = generator.oneIn(2) ? Int64.random(in: -30...30, using: &generator) : 0
            profile.wallErrorMilliseconds = hours * 3_600_000
            profile.reachesServer = index == gateway || generator.oneIn(3)
            return profile
        }
        let (network, server) = (network, server)
        // Longer than any history: what has to get to the server must be brought by what happened, not by the clock. But of
        // room on a disk nobody is told.
        let pollInterval: UInt64 = faults.contains(.fullDisk) ? 600_000 : 7 * 86_400_000
        laptops = try scheduler.finish {
            var laptops: [Laptop] = []
            for (index, profile) in profiles.enumerated() {
                laptops.append(
                    try await Laptop.start(
                        index, ofCrew: count, seed: seed, profile: profile, network: network, server: server,
                        pollInterval: pollInterval))
            }
            return laptops
        }
        self.generator = generator
    }

    /// Gives the memory of all disks back; nothing runs any more after it.
    func close() {
        for store in laptops.flatMap(\.stores) + [server.store] { try? store.close() }
    }

    // MARK: Work

    func work() throws {
        for laptop in laptops {
            laptop.engine.way.isAnswered = { [unowned self] in writeWhileTimeIsLearned(by: laptop) }
        }
        for laptop in laptops where generator.oneIn(2) { writeMuch(by: laptop) }
        for _ in 0..<Int.random(in: 30...70, using: &generator) {
            // Much at once, so that one thing comes between the awaits of another.
            let wait =
                generator.oneIn(3) ? 0 : Int64.random(in: 1...generator.pick([20, 400, 4_000]), using: &generator)
            scheduler.run(until: scheduler.now + wait * 1_000)
            try step()
        }
        // What is written from now on might not be everywhere when the crew has agreed.
        for laptop in laptops { laptop.engine.way.isAnswered = {} }
        scheduler.run(until: scheduler.now + 5_000_000)
    }

    private func step() throws {
        let laptop = generator.pick(laptops)
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<14 where !faults.isEmpty: try suffer(generator.pick(faults.sorted()), laptop)
        case ..<55: write(by: laptop)
        case ..<70: ask(by: laptop)
        case ..<76:
            let other = generator.pick(laptops)
            if other.index != laptop.index { network.cut(laptop.index, other.index) }
        case ..<82: network.heal()
        case ..<87:
            guard laptop.isUp else { return }
            counters.crashes += 1
            try laptop.crash()
        case ..<92:
            restart(laptop)
            writeMuch(by: laptop)
        case ..<96: setRoute(of: laptop, isUp: generator.oneIn(2))
        case ..<98: server.isBusy = generator.oneIn(2)
        default: laptop.machine.clock.jumpWall(by: Int64.random(in: -40...40, using: &generator) * 1_800_000_000)
        }
    }

    /// Begins what somebody wants of a laptop. What a person is told instead is no failure.
    func begin(_ body: @escaping @Sendable () async throws -> Void) {
        Task(executorPreference: scheduler) { [self] in
            do { try await body() } catch let error as StoreError where isToldToPeople(error) {
                counters.refused += 1
            } catch { failure = failure ?? error }
        }
    }

    /// A person is about to deal with late work, and may not hear what came of it.
    func expect(_ texts: Set<String>, settledIn job: JobID) { settled[job, default: []].formUnion(texts) }

    /// A person has dealt with late work.
    func settle(_ decision: LateDecision, of job: JobID) {
        decisions.append((job, decision))
        guard let place = decision.place else { return }
        if !jobs.contains(place.job) { jobs.append(place.job) }
        for text in decision.texts {
            acknowledged[place.job, default: [:]][text] = Written(
                laptop: decision.laptop, dot: place.dot, begun: server.now.milliseconds, isSynchronised: false,
                unseen: nil)
        }
    }

    /// Decisions of which nobody has heard are gone with the laptop's disk.
    func forgetDecisions(by laptop: Int) { decisions.removeAll { $0.decision.laptop == laptop } }

    /// A person has just opened the lid: the laptop learns the time while they write.
    private func writeMuch(by laptop: Laptop) {
        for _ in 0..<6 {
            let wait = Int64.random(in: 0...2_000_000, using: &generator)
            begin { [self] in
                await scheduler.pass(microseconds: wait)
                write(by: laptop)
            }
        }
    }

    /// The very moment in which a clock may step.
    private func writeWhileTimeIsLearned(by laptop: Laptop) {
        guard laptop.isUp, !laptop.engine.clock.now.isSynchronised else { return }
        write(by: laptop)
        write(by: laptop)
    }

    private func write(by laptop: Laptop) {
        guard laptop.isUp else { return }
        writes += 1
        let job = generator.pick(jobs)
        let item = ItemID(UInt128(1_000 + Int.random(in: 0..<6, using: &generator)))
        let text = "e\(writes) by \(laptop.index)"
        let edit: Edit =
            generator.oneIn(3)
            ? .note(item: item, text: text)
            : .put(item: item, fields: [Edit.FieldValue(field: generator.pick(["room", "name"]), value: text)])
        begin { [self] in
            do {
                let begun = server.now.milliseconds
                let wasSynchronised = laptop.engine.clock.now.isSynchronised
                let machine = laptop.machine
                let before = (shownCount: machine.shownCount, boot: machine.bootID)
                guard let dot = try await laptop.write(edit, in: job) else { return }
                counters.edits += 1
                let isKnown = wasSynchronised || laptop.engine.clock.now.isSynchronised
                acknowledged[job, default: [:]][text] = Written(
                    laptop: laptop.index, dot: dot, begun: begun, isSynchronised: wasSynchronised,
                    unseen: isKnown ? nil : before)
            } catch is EditRefusal {
                // A remark on an item that is not there yet.
            } catch let error as StoreError {
                refused.insert(text)
                throw error
            }
        }
    }

    private func ask(by laptop: Laptop) {
        guard laptop.isUp else { return }
        let job = generator.pick(jobs)
        begin { try await laptop.ask(about: job) }
    }

    func restart(_ laptop: Laptop) {
        guard !laptop.isUp else { return }
        let reboots = generator.oneIn(2)
        // With a full disk the daemon does not start; it is tried again later.
        begin { try await laptop.restart(reboots: reboots) }
    }

    private func setRoute(of laptop: Laptop, isUp: Bool) {
        laptop.engine.way.isUp = isUp
        guard laptop.isUp else { return }
        let gateway = laptop.engine.gateway
        let table = isUp ? nil : RouteTable()
        begin { await gateway.routesChanged(table) }
    }

    // MARK: Agreement

    func agree() throws {
        network.heal()
        server.isBusy = false
        server.isCalm = true
        for laptop in laptops { laptop.isDiskFull = false }
        for laptop in laptops where !laptop.isUp { try scheduler.finish { try await laptop.restart(reboots: false) } }
        // Who is nearest to the server has a way to it at last; the others by the luck that they have.
        // What a removed job took along no other laptop can ask for any more.
        for laptop in laptops where laptop.index == 0 || laptop.engine.way.isUp || faults.contains(.removal) {
            setRoute(of: laptop, isUp: true)
        }
        let deadline = scheduler.now + Self.patience
        var what = "nothing was looked at"
        while scheduler.now < deadline {
            scheduler.run(until: scheduler.now + 2_000_000)
            if let failure { throw failure }
            guard let difference = try difference() else { return }
            what = difference
        }
        throw Violation("liveness", what)
    }

    /// What keeps the crew from being done; nil when it is.
    private func difference() throws -> String? {
        let (laptops, server, jobs) = (laptops, server, jobs)
        return try scheduler.finish {
            for laptop in laptops {
                let waiting = await laptop.engine.outbox.queue.filter { $0.state != .rejected }
                if !waiting.isEmpty { return "laptop \(laptop.index) waits for \(waiting.count) answers" }
            }
            for job in jobs {
                let there = try? await server.store.holdings(of: job)
                for laptop in laptops {
                    let here = try? await laptop.engine.store.holdings(of: job)
                    if here != there { return "laptop \(laptop.index) and the server differ in \(job)" }
                }
            }
            return nil
        }
    }
}
