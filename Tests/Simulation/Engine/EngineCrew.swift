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
    /// Those that late work was taken into come last.
    private(set) var jobs: [JobID]
    /// What this history has beside what each has.
    let faults: Set<Fault>
    var generator: SeededGenerator
    var counters = EngineCounters()
    nonisolated(unsafe) let checker = Checker()
    /// What people wrote and were told that it is kept, by job and text.
    var acknowledged: [JobID: [String: Written]] = [:]
    /// What people may have dealt with of the late work, by job and text.
    private(set) var settled: [JobID: Set<String>] = [:]
    /// Names that two disks may have borne: what stood under them may have been issued again under another one.
    var doubtful: Set<ReplicaID> = []
    private(set) var decisions: [(job: JobID, decision: LateDecision)] = []
    /// Requests that people may have taken back: on the laptop that asked, or on a copy of it.
    private(set) var dropped: Set<MutationToken> = []
    /// What people were told that it is not kept.
    private(set) var refused: Set<String> = []
    private var writes = 0
    /// Nobody writes any more.
    var arePeopleDone = false
    var failure: (any Error)?

    /// An acknowledged write.
    struct Written {
        let laptop: Int
        /// Its place in the journal into which it was written.
        let dot: Dot
        /// True time in milliseconds since 1970 when it was asked for.
        let begun: UInt64
        /// The same when it was acknowledged.
        let ended: UInt64
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
        faults = Set(Fault.allCases.filter { _ in generator.oneIn(2) })
        let topology = generator.oneIn(2) ? .everybody : generator.pick(Plan.Profile.Topology.allCases)
        let gateway = Int.random(in: 0..<count, using: &generator)
        let profiles = (0..<count).map { index in
            var profile = Plan.ClockProfile()
            profile.partsPerMillion = Int64.random(in: -100...100, using: &generator)
            let hours = generator.oneIn(2) ? Int64.random(in: -30...30, using: &generator) : 0
            profile.wallErrorMilliseconds = hours * 3_600_000
            profile.reachesServer = index == gateway || generator.oneIn(3)
            return profile
        }
        // Longer than any history: what has to get to the server must be brought by what happened, not by the clock. But of
        // room on a disk nobody is told, nor of a server that was set back.
        let polls = !faults.isDisjoint(with: [.fullDisk, .serverSetBack])
        let pollInterval: UInt64 = polls ? 600_000 : 7 * 86_400_000
        let network = MemoryNetwork(seed: seed, topology: topology, scheduler: scheduler)
        let server = try SimulatedServer(seed: seed, acknowledges: polls, scheduler: scheduler)
        (self.network, self.server) = (network, server)
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
        for store in laptops.flatMap(\.stores) + server.stores { try? store.close() }
    }

    // MARK: Work

    func work() throws {
        for laptop in laptops {
            laptop.engine.way.isAnswered = { [unowned self] in writeWhileTimeIsLearned(by: laptop) }
        }
        network.isAnswered = { [unowned self] in
            writeWhileTimeIsLearned(by: laptops[$0])
        }
        for laptop in laptops.dropFirst() where generator.oneIn(6) {
            counters.lateJoins += 1
            scheduler.tell("laptop \(laptop.index) comes later")
            try laptop.crash()
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
        network.isAnswered = { _ in }
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
            if other.index != laptop.index { disturb(laptop.index, other.index) }
        case ..<82:
            scheduler.tell("all ways are mended")
            network.heal()
        case ..<87:
            guard laptop.isUp else { return }
            counters.crashes += 1
            scheduler.tell("laptop \(laptop.index) crashes")
            try laptop.crash()
            try lookAtDisk(of: laptop)
        case ..<92:
            restart(laptop)
            writeMuch(by: laptop)
        case ..<96: setRoute(of: laptop, isUp: generator.oneIn(2))
        case ..<98:
            server.isBusy = generator.oneIn(2)
            scheduler.tell("the server is \(server.isBusy ? "busy" : "well")")
            guard generator.oneIn(3) else { return }
            counters.serverStops += 1
            scheduler.tell("the server stops and starts")
            try server.restart()
        default:
            scheduler.tell("somebody sets the wall clock of laptop \(laptop.index)")
            laptop.machine.clock.jumpWall(by: Int64.random(in: -40...40, using: &generator) * 1_800_000_000)
        }
    }

    /// Begins what somebody wants of a laptop. What a person is told instead is no failure.
    func begin(on laptop: Laptop, _ body: @escaping @Sendable () async throws -> Void) {
        Task(executorPreference: laptop.machine.processor) { [self] in
            do { try await body() } catch let error as StoreError where isToldToPeople(error) {
                counters.refused += 1
            } catch { fail(error) }
        }
    }

    /// Something came that must not come; the history ends with it.
    func fail(_ error: any Error) { failure = failure ?? error }

    /// A person is about to deal with late work, and may not hear what came of it.
    func expect(_ texts: Set<String>, settledIn job: JobID) { settled[job, default: []].formUnion(texts) }

    /// A person has dealt with late work.
    func settle(_ decision: LateDecision, of job: JobID) {
        decisions.append((job, decision))
        guard let place = decision.place else { return }
        if !jobs.contains(place.job) { jobs.append(place.job) }
        for text in decision.texts {
            acknowledged[place.job, default: [:]][text] = Written(
                laptop: decision.laptop, dot: place.dot, begun: server.now.milliseconds, ended: .max, doubt: 0,
                isSynchronised: false, unseen: nil)
        }
    }

    /// Decisions of which nobody has heard are gone with the laptop's disk.
    func forgetDecisions(by laptop: Int) { decisions.removeAll { $0.decision.laptop == laptop } }

    /// A person has just opened the lid: the laptop learns the time while they write.
    private func writeMuch(by laptop: Laptop) {
        for _ in 0..<6 {
            let wait = Int64.random(in: 0...2_000_000, using: &generator)
            begin(on: laptop) { [self] in
                await scheduler.pass(microseconds: wait)
                write(by: laptop)
            }
        }
    }

    /// The very moment in which a clock may step.
    private func writeWhileTimeIsLearned(by laptop: Laptop) {
        guard !arePeopleDone, laptop.isAwake, !laptop.engine.clock.now.isSynchronised else { return }
        write(by: laptop)
        write(by: laptop)
    }

    private func write(by laptop: Laptop) {
        guard laptop.isAwake else { return }
        writes += 1
        let job = generator.pick(jobs)
        let item = ItemID(UInt128(1_000 + Int.random(in: 0..<6, using: &generator)))
        let text = "e\(writes) by \(laptop.index)"
        let edits = edits(of: item, saying: text)
        begin(on: laptop) { [self] in
            do {
                let begun = server.now.milliseconds
                let doubt = laptop.engine.clock.overview.uncertainty
                let wasSynchronised = laptop.engine.clock.now.isSynchronised
                let machine = laptop.machine
                let before = (shownCount: machine.shownCount, boot: machine.bootID)
                let clock = laptop.engine.clock
                let earliest = clock.now.milliseconds
                guard let (dot, stamp) = try await laptop.write(edits, in: job) else { return }
                scheduler.tell(
                    "laptop \(laptop.index) has written \(text) on \(item) of \(job)\(wasSynchronised ? "" : ", without the time")"
                )
                counters.edits += 1
                // Who fell asleep meanwhile may have stamped it hours later.
                let ended = server.now.milliseconds
                let isLate = ended > begun + UInt64(Checker.toleranceMilliseconds) / 2
                // A stamp that had to follow what its item shows says nothing of its time.
                let isPushed = stamp.milliseconds < earliest || stamp.milliseconds > clock.now.milliseconds
                let isKnown = wasSynchronised || laptop.engine.clock.now.isSynchronised
                acknowledged[job, default: [:]][text] = Written(
                    laptop: laptop.index, dot: dot, begun: begun, ended: laptop.hasLied ? .max : ended,
                    doubt: UInt64(doubt / 1_000),
                    isSynchronised: wasSynchronised,
                    unseen: isKnown || isLate || isPushed || laptop.hasLied ? nil : before)
            } catch is EditRefusal {
                // A remark on an item that is not there yet.
            } catch let error as StoreError {
                refused.insert(text)
                throw error
            }
        }
    }

    /// Of each something is `text`, which nobody else writes.
    private func edits(of item: ItemID, saying text: String) -> [Edit] {
        if generator.oneIn(3) {
            let note = Edit.note(item: item, text: text)
            return generator.oneIn(6) ? [note, .remove(item: item)] : [note]
        }
        var fields = [Edit.FieldValue(field: generator.pick(["room", "name"]), value: text)]
        // What is counted, added up, or looked for.
        for field: FieldName in ["barcode", "quantity", "volumeCubicFeet", "category"] where generator.oneIn(8) {
            let number = Int.random(in: 0..<8, using: &generator)
            let planned = PlannedEdit(item: 0, number: number, kind: .set(fields: []), text: .unicode(number))
            fields.append(Edit.FieldValue(field: field, value: planned.text(in: field)))
        }
        return [.put(item: item, fields: fields)]
    }

    private func ask(by laptop: Laptop) {
        guard laptop.isAwake else { return }
        let job = generator.pick(jobs)
        let chance = Int.random(in: 0..<12, using: &generator)
        begin(on: laptop) { [self] in
            switch chance {
            case 0: if try await laptop.drop(expecting: { dropped.insert($0) }) { counters.dropped += 1 }
            case 1...6: if try await laptop.signOff(job, isForgery: chance == 1) { counters.signOffs += 1 }
            // What a lane holds waits for what is before it.
            case 7...9: for _ in 0..<3 { try await laptop.ask(about: job) }
            default: try await laptop.ask(about: job)
            }
        }
    }

    /// The way between two laptops gets bad, or one of them talks nonsense.
    private func disturb(_ first: Int, _ second: Int) {
        let kind = Int.random(in: 0..<8, using: &generator)
        scheduler.tell(
            "the way from laptop \(first) to \(second) \(["hangs", "is full", "bears nonsense"].prefix(kind + 1).dropFirst(kind).first ?? "is cut")"
        )
        switch kind {
        case 0: network.hang(first, second)
        case 1: network.congest(first, second)
        case 2:
            let (laptop, job) = (laptops[first], generator.pick(jobs))
            let garbage = generator.pick(Garbage.allCases)
            guard laptop.isAwake else { return }
            begin(on: laptop) { [self] in
                let store = laptop.engine.store
                // Of its own journal: who is told of theirs that it goes on takes another name (docs/forks.md).
                let own = store.identity.replica
                guard let head = try? await store.vector(of: job)[own],
                    let segment = try await store.segment(
                        of: own, job: job, from: head.sequence, maximumBytes: 1)
                else { return }
                let forged = Message.delta(job: job, garbage.applied(to: segment), pushed: true)
                if network.forge(forged, from: first, to: second) { counters.forged += 1 }
            }
        default: network.cut(first, second)
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
        laptop.engine.way.isUp = isUp
        guard laptop.isUp else { return }
        let engine = laptop.engine
        // Who sleeps is told later, and then how it is.
        begin(on: laptop) { await engine.gateway.routesChanged(engine.way.isUp ? nil : RouteTable()) }
    }
}
