import Authorship
import CRDT
import Engine
import Inventory
import Logging
import Outbox
import Replication
import Storage
import Timekeeping

/// A laptop that runs the daemon's own actors in virtual time.
final class Laptop: @unchecked Sendable {
    /// The actors of one start; what an earlier start has left under way acts on a disk that is gone.
    struct Engine {
        let store: Store
        let run: VirtualRun
        let clock: ClockService
        let replicator: Replicator
        let outbox: OutboxDriver
        let gateway: Gateway
        let way: ServerWay
        /// Nil where every job is everybody's.
        let assignments: SimulatedAssignments?
        let tasks: [Task<Void, Never>]
    }

    let index: Int
    /// Between polls by the clock, in milliseconds.
    private let pollInterval: UInt64
    let machine: VirtualMachine
    private let server: SimulatedServer
    private let network: MemoryNetwork
    private let crew: Int
    var generator: SeededGenerator
    private(set) var engine: Engine
    /// Every store that it had, one a start.
    private(set) var stores: [Store]
    private(set) var isUp = true
    private var isStarting = false
    /// Every name that it bore.
    private(set) var names: Set<ReplicaID>
    /// What its disk held when the power went.
    private var remains: [UInt8] = []
    /// Where its disk seems to lie: a copy of another's that nobody noticed lies where that did.
    private(set) var place: StorePlace
    /// What somebody has put aside of its disk.
    private(set) var backup: DiskContents?
    let witness: Witness
    private let key: KeyFile
    private let membership: Membership?
    var signer: TestSigner { key.signer }
    var holder: Holder { witness.holder }

    /// A disk at some time.
    struct DiskContents {
        let bytes: [UInt8]
        /// What the reference knew of it, and whose store it was.
        let references: [JobID: Reference]
        let replica: ReplicaID
        /// Nil of the server's.
        let signer: TestSigner?
    }

    /// Somebody can work with it.
    var isAwake: Bool { isUp && !machine.processor.isAsleep }

    /// What its people were told that it is asked for.
    var asked: Set<MutationToken> = []

    /// How far ahead of its time it stamps what its people write.
    var lieMilliseconds: UInt64 = 0

    /// Nothing can be written.
    var isDiskFull = false {
        didSet { engine.store.setDiskFull(isDiskFull) }
    }

    static func start(
        _ index: Int, ofCrew crew: Int, seed: UInt64, profile: VirtualClock.Profile, network: MemoryNetwork,
        server: SimulatedServer, pollInterval: UInt64, checker: Checker, membership: Membership?
    ) async throws -> Laptop {
        let machine = VirtualMachine(index: index, seed: seed, profile: profile, scheduler: network.scheduler)
        let way = ServerWay(server: server, machine: machine, isUp: profile.reachesServer)
        var generator = SeededGenerator(seed: seed ^ UInt64(index + 1) << 32)
        let place = StorePlace(machine: "machine \(index)", file: "1")
        let key = KeyFile(&generator)
        let store = try await openStore(nil, at: place, index, key, &generator)
        let witness = Witness("laptop \(index)", store: store, checker: checker, scheduler: network.scheduler)
        try witness.watch(store)
        let engine = try await Self.engine(
            on: store, index, ofCrew: crew, machine: machine, network: network, way: way, pollInterval: pollInterval,
            witness: witness, key: key, membership: membership)
        return Laptop(
            index, crew, machine, server, network, place, pollInterval, generator, engine, witness, key, membership)
    }

    private init(
        _ index: Int, _ crew: Int, _ machine: VirtualMachine, _ server: SimulatedServer, _ network: MemoryNetwork,
        _ place: StorePlace, _ pollInterval: UInt64, _ generator: SeededGenerator, _ engine: Engine, _ witness: Witness,
        _ key: KeyFile, _ membership: Membership?
    ) {
        self.membership = membership
        self.key = key
        self.witness = witness
        self.pollInterval = pollInterval
        self.index = index
        self.crew = crew
        self.machine = machine
        self.server = server
        self.network = network
        self.place = place
        self.generator = generator
        self.engine = engine
        stores = [engine.store]
        names = [engine.store.identity.replica]
    }

    private static func openStore(
        _ contents: [UInt8]?, at place: StorePlace, _ index: Int, _ key: KeyFile, _ generator: inout SeededGenerator
    ) async throws -> Store {
        let store = try Store.openInMemory(
            contents: contents, place: place, hostName: "laptop \(index)", generator: &generator)
        // A key that another store has used is another laptop's.
        if contents != nil, store.identity.device != key.signer.device { key.renew() }
        try await store.takeUp(key.signer, using: &generator)
        return store
    }

    /// As the daemon puts it together.
    private static func engine(
        on store: Store, _ index: Int, ofCrew crew: Int, machine: VirtualMachine, network: MemoryNetwork,
        way: ServerWay, pollInterval: UInt64, witness: Witness, key: KeyFile, membership: Membership?
    ) async throws -> Engine {
        let logger = Logger(label: "laptop \(index)") { NarratingLog(label: $0, scheduler: machine.scheduler) }
        let run = machine.begin()
        let clock = ClockService(remembered: try await store.clockRecord(), machine: run, built: VirtualClock.built)
        witness.time = { clock.now.milliseconds }
        if let record = clock.initialRecord { try await store.keep(record) }
        store.whenShown {
            machine.shownCount += 1
            return clock.noteShown()
        }
        store.setLatency { await machine.waitForDisk() }
        way.device = { store.identity.device }
        let assignments = try await membership?.register(of: store, signer: key.signer, index, clock, witness)
        let authors = membership == nil ? [:] : try await store.authorDevices()
        let news = NewsRelay()
        let replicator = Replicator(
            Replicator.Parts(
                store: store, clock: clock, machine: run, observer: news, logger: logger, renewKey: { key.renew() },
                fleet: SimulatedRegister(), assignments: assignments),
            holdings: KnownHoldings(
                jobs: try await store.vectors(), removals: try await store.removals(), authors: authors),
            hostName: "laptop \(index)")
        await replicator.attach(MemoryLinks(network: network, laptop: index))
        let late = LateNotes(run: run, scheduler: machine.scheduler)
        store.whenCommitted { [weak replicator] note in
            if let replicator { late.tell(note, to: replicator) }
        }
        let outbox = OutboxDriver(store: store, replicator: replicator, clock: clock, machine: run, logger: logger)
        try await outbox.start()
        let gateway = Gateway(
            Gateway.Parts(
                server: way, store: store, replicator: replicator, outbox: outbox, machine: run, logger: logger,
                assignments: assignments),
            host: "192.0.2.1", interval: pollInterval)
        await outbox.attach(gateway)
        way.hear = { await replicator.learn(.server($0)) }
        let jobNews = JobNews(outbox: outbox, gateway: gateway)
        news.news = jobNews
        network.attach(replicator, of: index, on: machine.processor) { store.identity.device }
        for other in 0..<crew where other != index {
            await replicator.updatePlan { plan, now in plan.onConfigured(MemoryNetwork.address(of: other), now: now) }
        }
        await gateway.routesChanged(nil)
        let tasks = [run.begin { await jobNews.run() }, run.begin { await gateway.run() }]
        return Engine(
            store: store, run: run, clock: clock, replicator: replicator, outbox: outbox, gateway: gateway, way: way,
            assignments: assignments, tasks: tasks)
    }

    // MARK: Power

    /// Everything that is not durable is gone.
    func crash() throws {
        guard isUp else { return }
        isUp = false
        witness.close()
        machine.processor.wakeUp()
        remains = try engine.store.copy()
        names.insert(engine.store.identity.replica)
        network.detach(index)
        engine.way.isDead = true
        engine.run.cutPower()
        for task in engine.tasks { task.cancel() }
    }

    func restart(reboots: Bool) async throws {
        guard !isUp, !isStarting else { return }
        isStarting = true
        defer { isStarting = false }
        if reboots { machine.clock.reboot(now: machine.scheduler.now) }
        let store = try await Self.openStore(remains, at: place, index, key, &generator)
        stores.append(store)
        store.setDiskFull(isDiskFull)
        let way = ServerWay(server: server, machine: machine, isUp: engine.way.isUp)
        way.isAnswered = engine.way.isAnswered
        way.isBringing = engine.way.isBringing
        try witness.watch(store)
        engine = try await Self.engine(
            on: store, index, ofCrew: crew, machine: machine, network: network, way: way, pollInterval: pollInterval,
            witness: witness, key: key, membership: membership)
        names.insert(store.identity.replica)
        isUp = true
    }

    // MARK: Disks

    /// What the disk holds, or held when the power went.
    func contents() throws -> [UInt8] { isUp ? try engine.store.copy() : remains }

    func copyOfDisk() throws -> DiskContents {
        DiskContents(
            bytes: try contents(), references: holder.references, replica: holder.store.identity.replica,
            signer: key.signer)
    }

    func backUp() throws { backup = try copyOfDisk() }

    var canGetOtherDisk: Bool { !isUp && !isStarting }

    /// From the next start on the disk holds something else; nothing tells its store so, unless it lies elsewhere (rule R9).
    func become(_ contents: DiskContents, at place: StorePlace) {
        remains = contents.bytes
        holder.references = contents.references
        if let signer = contents.signer { key.signer = signer }
        self.place = place
        // The disk does not know what it has shown since.
        machine.shownCount += 1
    }
}

/// The laptop's key, as it lies on its disk beside the store.
final class KeyFile: @unchecked Sendable {
    var signer: TestSigner
    private var generator: SeededGenerator

    init(_ generator: inout SeededGenerator) {
        self.generator = SeededGenerator(seed: generator.next())
        signer = TestSigner(self.generator.next())
    }

    @discardableResult
    func renew() -> TestSigner {
        signer = TestSigner(generator.next())
        return signer
    }
}

/// Has the scheduler tell what a laptop logs.
private struct NarratingLog: LogHandler {
    let label: String
    let scheduler: Scheduler
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted().joined(separator: " ")
        scheduler.tell("    \(label) logs: \(event.message) \(details)")
    }
}

/// Tells the news of jobs to those who are made after the replicator.
private final class NewsRelay: ReplicationObserver, @unchecked Sendable {
    var news: JobNews?

    func jobAdvanced(_ advance: JobAdvance) { news?.jobAdvanced(advance) }
}
