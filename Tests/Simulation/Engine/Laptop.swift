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
        let clock: ClockService
        let replicator: Replicator
        let outbox: OutboxDriver
        let gateway: Gateway
        let way: ServerWay
        let tasks: [Task<Void, Never>]
    }

    /// Longer than any history: what has to get to the server in time must not wait for a poll by the clock.
    private static let pollInterval: UInt64 = 7 * 86_400_000

    let index: Int
    let machine: VirtualMachine
    private let server: SimulatedServer
    private let network: MemoryNetwork
    private let crew: Int
    private var generator: SeededGenerator
    private(set) var engine: Engine
    /// Every store that it had, one a start.
    private(set) var stores: [Store]
    private(set) var isUp = true
    private var isStarting = false
    /// What its disk held when the power went.
    private var remains: [UInt8] = []
    /// Wishes for the server that were acknowledged to a person, in their order.
    var asked: [MutationToken] = []

    static func start(
        _ index: Int, ofCrew crew: Int, seed: UInt64, profile: Plan.ClockProfile, network: MemoryNetwork,
        server: SimulatedServer
    ) async throws -> Laptop {
        let machine = VirtualMachine(index: index, seed: seed, profile: profile, scheduler: network.scheduler)
        let way = ServerWay(server: server, machine: machine, isUp: profile.reachesServer)
        var generator = SeededGenerator(seed: seed ^ UInt64(index + 1) << 32)
        let store = try openStore(nil, index, &generator)
        let engine = try await Self.engine(on: store, index, ofCrew: crew, machine: machine, network: network, way: way)
        return Laptop(index, crew, machine, server, network, generator, engine)
    }

    private init(
        _ index: Int, _ crew: Int, _ machine: VirtualMachine, _ server: SimulatedServer, _ network: MemoryNetwork,
        _ generator: SeededGenerator, _ engine: Engine
    ) {
        self.index = index
        self.crew = crew
        self.machine = machine
        self.server = server
        self.network = network
        self.generator = generator
        self.engine = engine
        stores = [engine.store]
    }

    private static func openStore(
        _ contents: [UInt8]?, _ index: Int, _ generator: inout SeededGenerator
    ) throws -> Store {
        try Store.openInMemory(
            contents: contents, place: StorePlace(machine: "machine \(index)", file: "1"), hostName: "laptop \(index)",
            generator: &generator)
    }

    /// As the daemon puts it together.
    private static func engine(
        on store: Store, _ index: Int, ofCrew crew: Int, machine: VirtualMachine, network: MemoryNetwork, way: ServerWay
    ) async throws -> Engine {
        let logger = Logger(label: "laptop \(index)") { _ in SwiftLogNoOpLogHandler() }
        let clock = ClockService(
            remembered: try await store.clockRecord(), machine: machine, built: VirtualClock.built)
        if let record = clock.initialRecord { try await store.keep(record) }
        store.whenShown {
            machine.shownCount += 1
            return clock.noteShown()
        }
        store.setLatency { await machine.waitForDisk() }
        let news = NewsRelay()
        let replicator = Replicator(
            Replicator.Parts(store: store, clock: clock, machine: machine, observer: news, logger: logger),
            holdings: KnownHoldings(jobs: try await store.vectors(), removals: try await store.removals()),
            hostName: "laptop \(index)")
        await replicator.attach(MemoryLinks(network: network, laptop: index))
        let outbox = OutboxDriver(store: store, replicator: replicator, clock: clock, machine: machine, logger: logger)
        try await outbox.start()
        let gateway = Gateway(
            Gateway.Parts(
                server: way, store: store, replicator: replicator, outbox: outbox, machine: machine, logger: logger),
            host: "192.0.2.1", interval: Self.pollInterval)
        await outbox.attach(gateway)
        way.hear = { await replicator.learn(.server($0)) }
        let jobNews = JobNews(outbox: outbox, gateway: gateway)
        news.news = jobNews
        network.attach(replicator, of: index)
        for other in 0..<crew where other != index {
            await replicator.updatePlan { plan, now in plan.onConfigured(MemoryNetwork.address(of: other), now: now) }
        }
        await gateway.routesChanged(nil)
        let tasks = [machine.begin { await jobNews.run() }, machine.begin { await gateway.run() }]
        return Engine(
            store: store, clock: clock, replicator: replicator, outbox: outbox, gateway: gateway, way: way, tasks: tasks
        )
    }

    // MARK: Power

    /// Everything that is not durable is gone.
    func crash() throws {
        guard isUp else { return }
        isUp = false
        remains = try engine.store.copy()
        network.detach(index)
        engine.way.isDead = true
        for task in engine.tasks { task.cancel() }
    }

    func restart(reboots: Bool) async throws {
        guard !isUp, !isStarting else { return }
        isStarting = true
        defer { isStarting = false }
        if reboots { machine.clock.reboot(now: machine.scheduler.now) }
        let store = try Self.openStore(remains, index, &generator)
        let way = ServerWay(server: server, machine: machine, isUp: engine.way.isUp)
        engine = try await Self.engine(
            on: store, index, ofCrew: crew, machine: machine, network: network, way: way)
        stores.append(store)
        isUp = true
    }

    // MARK: People

    /// A person writes.
    ///
    /// - Returns: whether that was acknowledged: not when the power went meanwhile.
    func write(_ edit: Edit, in job: JobID) async throws -> Bool {
        let engine = engine
        let result = try await engine.store.edit(job: job, createsJob: true, now: { engine.clock.now }, [edit])
        if let commit = result.commit { await engine.replicator.committed(commit) }
        return result.commit != nil && isAlive(engine)
    }

    private func isAlive(_ engine: Engine) -> Bool { isUp && engine.store === self.engine.store }

    /// A person asks the server for the next state of a job.
    func ask(about job: JobID) async throws {
        let engine = engine
        let notShown = await engine.outbox.notShown
        let state = (try? await engine.store.overlay(of: job, leavingOut: notShown))?.shown.state
        var batch = MutationBatch(job: job)
        batch.createsJob = true
        if let state {
            guard let next = state.next.filter({ $0 != .cancelled }).first else { return }
            batch.add(AdvanceState(to: next), using: &generator)
        } else {
            batch.add(OpenJob(name: "Smith", kind: .pickup), using: &generator)
        }
        do {
            let asked = try await engine.store.enqueue(batch, leavingOut: notShown, now: { engine.clock.now })
            if isAlive(engine) { self.asked += asked.tokens }
            await engine.replicator.committed(asked.commit)
            await engine.outbox.jobAdvanced(job)
        } catch is MutationRefusal {
            // What is pending and not shown leaves no room for it.
        }
    }
}

/// Tells the news of jobs to those who are made after the replicator.
private final class NewsRelay: ReplicationObserver, @unchecked Sendable {
    var news: JobNews?

    func jobAdvanced(_ job: JobID, vector: VersionVector, applied: [AppliedChange]) {
        news?.jobAdvanced(job, fingerprint: vector.fingerprint)
    }
}
