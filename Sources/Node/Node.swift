import CRDT
import Discovery
import Engine
import HTTPCoding
import LocalAPI
package import Logging
import Replication
import ServerChannel
import ServiceLifecycle
import Storage
import Timekeeping
import Transport
import UnixSignals

#if canImport(Glibc)
    import Glibc
#endif

/// A daemon: puts the modules together and runs them in order.
package struct Node: Sendable {
    private let configuration: NodeConfiguration
    private let environment: [String: String]
    private let logger: Logger
    private let serverTimes = ServerTimes()

    /// Opens nothing before `run()`.
    ///
    /// - Parameter environment: the process's; a service manager leaves there where it wants to be told.
    package init(configuration: NodeConfiguration, environment: [String: String], logger: Logger) {
        self.configuration = configuration
        self.environment = environment
        self.logger = logger
    }

    /// Runs until it is told to stop (SIGTERM, SIGINT); everything acknowledged is durable whenever it ends.
    /// - Throws: `StoreError`, `ConfigurationError` or `APIError` when it cannot start.
    package func run() async throws {
        let executor = EventLoopTaskExecutor.shared
        try await withTaskExecutorPreference(executor) { try await run(on: executor) }
    }

    private func run(on executor: EventLoopTaskExecutor) async throws {
        let directory = try StateDirectory(path: configuration.stateDirectory)
        // One name everywhere: laptops are found by it.
        let hostName = (configuration.hostName ?? Host.name).shortened(toBytes: ProtocolLimits.nameBytes)
        var generator = SystemRandomNumberGenerator()
        let store = try Store.open(
            path: directory.storePath, machine: Host.machineID, hostName: hostName, generator: &generator)
        if store.wasCopied { logger.warning("the store was copied or moved; it goes on as a new replica") }
        let machine = SystemMachine(executor: executor)
        let clock = await restoreClock(from: store, machine: machine)
        store.whenShown { clock.noteShown() }
        let jobs = try await store.vectors()
        let holdings = KnownHoldings(jobs: jobs, removals: try await store.removals())

        let hub = EventHub()
        let housekeeping = Housekeeping(store: store, logger: logger)
        // What was not tidied up before the last stop; a job that was costs one row.
        for known in jobs { housekeeping.jobChanged(known.job) }
        let publisher = ChangePublisher(hub: hub, store: store, housekeeping: housekeeping)
        let replicator = Replicator(
            Replicator.Parts(store: store, clock: clock, machine: machine, observer: publisher, logger: logger),
            holdings: holdings, hostName: hostName)
        let transport = PeerTransport(
            configuration: TransportConfiguration(host: configuration.listen.host, port: configuration.listen.port),
            handler: replicator, logger: logger, executor: executor)
        await replicator.attach(transport)

        let outbox = OutboxDriver(
            store: store, replicator: replicator, clock: clock, machine: machine, logger: logger)
        try await outbox.start()
        let client = client(of: replicator)
        let gateway = client.map { client in
            self.gateway(
                Gateway.Parts(
                    server: client, store: store, replicator: replicator, outbox: outbox, machine: machine,
                    logger: logger))
        }
        if let gateway { await outbox.attach(gateway) }
        let news = JobNews(outbox: outbox, gateway: gateway)
        publisher.onAdvance { job, vector in news.jobAdvanced(job, fingerprint: vector.fingerprint) }
        let discovery = DiscoveryService(
            configuration: configuration, device: store.identity.device, hostName: hostName, transport: transport,
            replicator: replicator, logger: logger)
        let service = InventoryService(
            store: store, replicator: replicator, transport: transport, clock: clock, hub: hub,
            facts: DaemonFacts(
                hostName: hostName, startedAt: Timestamp(milliseconds: Int64(SystemClock.wallMilliseconds)),
                configuration: configuration, firstReplica: store.identity.replica, discovery: discovery.state),
            keys: KeyCache(), outbox: outbox, gateway: gateway)
        let manager = ServiceManager(environment: environment)
        let api = LocalServer(socketPath: configuration.socket, service: service, logger: logger) {
            manager.ready("\(jobs.count) jobs")
        }
        warnOfInsecureLAN()
        for peer in configuration.peers {
            await replicator.updatePlan { plan, now in plan.onConfigured(peer, now: now) }
        }
        var lifecycle = ServiceGroupConfiguration(
            // Stopped in reverse: first the streams end, then the local API, the network last.
            services: [
                .init(service: housekeeping), .init(service: PublisherService(publisher: publisher)),
                .init(service: JobNewsService(news: news, outbox: outbox)),
                .init(service: TransportService(transport: transport)),
                .init(service: discovery),
                .init(service: Watchdog(manager: manager, replicator: replicator)), .init(service: api),
                .init(service: StreamEnder(hub: hub, manager: manager, logger: logger)),
            ], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        if let server = configuration.server {
            let times = serverTimes
            let asking = ServerClock(
                address: server, elapsed: { SystemClock.elapsedMicroseconds }, isNeeded: { times.isNeeded },
                logger: logger)
            lifecycle.services.append(.init(service: ServerTimeService(server: asking, replicator: replicator)))
        }
        if let gateway, let client {
            lifecycle.services.append(
                .init(
                    service: GatewayService(
                        gateway: gateway, client: client, watcher: RouteWatcher(logger: logger))))
        }
        // Everything acknowledged is durable: whoever does not let go by then is not waited for.
        lifecycle.maximumGracefulShutdownDuration = .seconds(2)
        do {
            try await ServiceGroup(configuration: lifecycle).run()
        } catch  where hub.hasFinished {
            logger.warning("a service did not stop in time and was cancelled", metadata: ["error": "\(error)"])
        }
        await replicator.finishNotes()
        try store.close()
        logger.info("stopped")
    }

    /// What talks to the server, if this device has a token for one.
    private func client(of replicator: Replicator) -> ChannelClient? {
        guard let address = configuration.server, let file = configuration.serverTokenFile else { return nil }
        let token = ServerToken(file: file)
        if token.isPublic {
            logger.warning(
                "everybody on this machine can read the token for the server", metadata: ["remedy": "chmod 600 \(file)"]
            )
        }
        let times = serverTimes
        return ChannelClient(
            address: address, readToken: token.read, elapsed: { SystemClock.elapsedMicroseconds }
        ) { exchange in
            times.heard()
            await replicator.learn(.server(exchange))
        }
    }

    private func gateway(_ parts: Gateway.Parts) -> Gateway {
        let times = serverTimes
        let host = configuration.server?.host ?? ""
        return Gateway(parts, host: host, interval: UInt64(configuration.serverInterval) * 1_000) {
            times.routeChanged(isUp: $0)
        }
    }

    /// What is known of the time from earlier starts; a store that cannot say so costs nothing but certainty.
    private func restoreClock(from store: Store, machine: SystemMachine) async -> ClockService {
        do {
            let clock = ClockService(remembered: try await store.clockRecord(), machine: machine)
            if let record = clock.initialRecord { try await store.keep(record) }
            return clock
        } catch {
            logger.warning("the clock's record cannot be read or written", metadata: ["error": "\(error)"])
            return ClockService(remembered: nil, machine: machine)
        }
    }

    private func warnOfInsecureLAN() {
        guard configuration.allowsInsecureLAN, !configuration.isLoopbackOnly else { return }
        logger.warning(
            "--insecure-lan: connections are neither encrypted nor authenticated; everybody on this network can read and change the inventory",
            metadata: ["listen": "\(configuration.listen)"])
    }
}
