import CRDT
package import Engine
import Enrolment
import HTTPCoding
import LocalAPI
import LocalAPIServer
package import Logging
package import Metering
import Replication
package import Storage
import Systemd
import Timekeeping
import Transport

/// The middle of a daemon: from the store to what people are answered, without a socket, discovery or a way to the server.
///
/// The daemon puts those around it. By itself it answers as a laptop that meets nobody.
package struct Core: Sendable {
    /// Where everything is kept.
    package let store: Store
    let machine: any Machine
    let clock: ClockService
    /// What the store held at the start.
    let jobs: [(job: JobID, vector: VersionVector)]
    let hub: EventHub
    let housekeeping: Housekeeping
    let publisher: ChangePublisher
    let replicator: Replicator
    let transport: PeerTransport
    let outbox: OutboxDriver
    let assignments: JobAssignments
    let keptPeers: KeptPeers
    private let configuration: NodeConfiguration
    private let hostName: String
    private let fleet: FleetIdentity
    let counters: CounterRegistry
    private let enrolment: (inviter: Inviter, joiner: Joiner)

    /// What it is put together from.
    package struct Parts: Sendable {
        let store: Store
        let machine: any Machine
        let configuration: NodeConfiguration
        let hostName: String
        let logger: Logger
        let built: Int64
        let fleet: FleetIdentity
        let counters: CounterRegistry

        /// - Parameters:
        ///   - store: open, and written by nobody else.
        ///   - hostName: what people see this laptop as, at most `ProtocolLimits.nameBytes` long.
        ///   - fleet: the laptop's key, and the fleet that it belongs to.
        ///   - built: a time before which the program cannot run, in microseconds since 1970.
        ///   - counters: where everything is counted; the store may count there already.
        package init(
            store: Store, machine: any Machine, configuration: NodeConfiguration, hostName: String, logger: Logger,
            fleet: FleetIdentity = FleetIdentity(), built: Int64 = CorrectedClock.programFloor,
            counters: CounterRegistry = CounterRegistry()
        ) {
            self.counters = counters
            self.store = store
            self.machine = machine
            self.configuration = configuration
            self.hostName = hostName
            self.logger = logger
            self.built = built
            self.fleet = fleet
        }
    }

    /// Takes up what the store remembers of the time and of requests. Nobody is dialled, and nothing is listened on.
    ///
    /// - Throws: `StoreError`.
    package init(_ parts: Parts) async throws {
        let (store, machine, logger) = (parts.store, parts.machine, parts.logger)
        let clock = await Self.restoreClock(parts)
        store.whenShown { clock.noteShown() }
        parts.fleet.follow(clock)
        // The key names the laptop: a new store, and one that was copied from another laptop, has had a name without a key.
        var generator = machine.generator
        try await store.takeUp(FleetSigner(parts.fleet), using: &generator)
        jobs = try await store.vectors()
        assignments = try await JobAssignments(store: store, identity: parts.fleet, logger: logger)
        keptPeers = try KeptPeers(in: parts.fleet.files, configured: parts.configuration.peers) {
            logger.error(
                "the kept addresses of laptops could not be read; add them anew with 'muster peers add'",
                metadata: ["former": "\(KeptPeers.damagedFile)"])
        }
        hub = EventHub(run: UInt64(clamping: machine.wallMilliseconds))
        housekeeping = Housekeeping(store: store, logger: logger)
        publisher = ChangePublisher(hub: hub, store: store, housekeeping: housekeeping)
        replicator = Replicator(
            Replicator.Parts(
                store: store, clock: clock, machine: machine, observer: publisher, logger: logger,
                renewKey: { [fleet = parts.fleet] in try fleet.renewKey() }, fleet: parts.fleet,
                assignments: assignments, metrics: parts.counters),
            holdings: KnownHoldings(
                jobs: jobs, removals: try await store.removals(), authors: try await store.authorDevices()),
            hostName: parts.hostName)
        let listen = parts.configuration.listen
        let inviter = Inviter(fleet: parts.fleet, machine: machine, hostName: parts.hostName, logger: logger)
        transport = PeerTransport(
            configuration: TransportConfiguration(host: listen.host, port: listen.port), security: parts.fleet,
            handler: replicator, logger: logger, executor: machine.executor, enrolment: inviter,
            metrics: parts.counters)
        enrolment = (
            inviter,
            Joiner(
                parts.fleet, dialler: transport.enrolmentDialler,
                addresses: { [replicator] in await replicator.knownAddresses() }, hostName: parts.hostName,
                executor: machine.executor, logger: logger)
        )
        await replicator.attach(transport)
        outbox = OutboxDriver(
            store: store, replicator: replicator, clock: clock, machine: machine, logger: logger,
            metrics: parts.counters)
        try await outbox.start()
        self.store = store
        self.machine = machine
        self.clock = clock
        configuration = parts.configuration
        hostName = parts.hostName
        fleet = parts.fleet
        counters = parts.counters
    }

    /// What answers the local API.
    ///
    /// - Parameters:
    ///   - gateway: nil without a server.
    ///   - recentLog: nil where nobody keeps what is logged.
    ///   - metricsPort: nil without a port for Prometheus.
    func service(
        gateway: Gateway?, discovery: DiscoveryState, recentLog: RecentLog? = nil, metricsPort: MetricsPort? = nil
    ) -> InventoryService {
        InventoryService(
            store: store, machine: machine, replicator: replicator, transport: transport, clock: clock, hub: hub,
            facts: DaemonFacts(
                hostName: hostName, startedAt: Timestamp(milliseconds: Int64(machine.wallMilliseconds)),
                startedElapsed: machine.elapsedMilliseconds,
                configuration: configuration, firstReplica: store.identity.replica, discovery: discovery,
                recentLog: recentLog, counters: counters, metricsPort: metricsPort),
            keys: KeyCache(), outbox: outbox, gateway: gateway, fleet: fleet, assignments: assignments,
            keptPeers: keptPeers, inviter: enrolment.inviter,
            joiner: enrolment.joiner, underWay: RequestsUnderWay(),
            transfers: TransferDirectory(in: configuration.stateDirectory))
    }

    /// What is known of the time from earlier starts; a store that cannot say so costs nothing but certainty.
    private static func restoreClock(_ parts: Parts) async -> ClockService {
        do {
            let clock = ClockService(
                remembered: try await parts.store.clockRecord(), machine: parts.machine, built: parts.built)
            if let record = clock.initialRecord { try await parts.store.keep(record) }
            return clock
        } catch {
            parts.logger.warning("the clock's record cannot be read or written", metadata: ["error": "\(error)"])
            return ClockService(remembered: nil, machine: parts.machine, built: parts.built)
        }
    }
}
