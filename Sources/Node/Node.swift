import CMalloc
import CRDT
import Discovery
import Engine
import HTTPCoding
import LocalAPI
import LocalAPIServer
package import Logging
import Metering
import Reloading
import Replication
import ServiceLifecycle
import Storage
package import Systemd
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
    private let recentLog: RecentLog?
    private let check: @Sendable () async throws -> Bool

    /// Opens nothing before `run()`.
    ///
    /// - Parameters:
    ///   - environment: the process's; a service manager leaves there where it wants to be told.
    ///   - recentLog: where the logger keeps its last lines, if anywhere.
    ///   - check: whether the settings are others by now; throws a sentence where they cannot be used.
    package init(
        configuration: NodeConfiguration, environment: [String: String], logger: Logger, recentLog: RecentLog? = nil,
        check: @escaping @Sendable () async throws -> Bool
    ) {
        self.recentLog = recentLog
        self.check = check
        self.configuration = configuration
        self.environment = environment
        self.logger = logger
    }

    /// How a run has ended.
    package enum Ending: Sendable {
        case stopped
        /// There are other settings, and they can be used: the program is to begin anew.
        case reloads
    }

    /// Runs until it is told to stop (SIGTERM, SIGINT), or to take up other settings (SIGHUP, where a service manager listens);
    /// everything acknowledged is durable whenever it ends.
    ///
    /// - Throws: `StoreError`, `ConfigurationError` or `APIError` when it cannot start.
    package func run() async throws -> Ending {
        keepFewArenas()
        let executor = EventLoopTaskExecutor.shared
        return try await withTaskExecutorPreference(executor) { try await run(on: executor) }
    }

    private func run(on executor: EventLoopTaskExecutor) async throws -> Ending {
        let directory = try StateDirectory(path: configuration.stateDirectory)
        // One name everywhere: laptops are found by it.
        let hostName = (configuration.hostName ?? Host.name).shortened(toBytes: ProtocolLimits.nameBytes)
        var generator = SystemRandomNumberGenerator()
        let manager = ServiceManager(environment: environment)
        // Of a store that another version has written this may take a while.
        manager.status("opening the store")
        let counters = CounterRegistry()
        let store = try Store.open(
            path: directory.storePath, machine: Host.machineID, hostName: hostName,
            upgrade: StoreUpgrade(program: MusterVersion.current) { step in
                if step == .snapshot(percent: 0) {
                    logger.notice("upgrading the store", metadata: ["version": "\(MusterVersion.current)"])
                }
                manager.progress("\(step)")
            }, metrics: counters, generator: &generator)
        if store.wasCopied { logger.warning("the store was copied or moved; it goes on as a new replica") }
        let fleet = try await FleetIdentity(
            in: directory, of: store.identity.device, credentials: environment["CREDENTIALS_DIRECTORY"])
        if let damage = fleet.damage {
            logger.error("this laptop goes on without its fleet and its server", metadata: ["reason": "\(damage)"])
        }
        let core = try await Core(
            Core.Parts(
                store: store, machine: SystemMachine(executor: executor), configuration: configuration,
                hostName: hostName, logger: logger, fleet: fleet, counters: counters))
        let (replicator, outbox, jobs) = (core.replicator, core.outbox, core.jobs)
        // What was not tidied up before the last stop; a job that was costs one row.
        for known in jobs { core.housekeeping.jobChanged(known.job) }
        let server = configuration.server.map {
            ServerServices($0, every: configuration.serverInterval, core: core, fleet: fleet, logger: logger)
        }
        let gateway = server?.gateway
        if let gateway { await outbox.attach(gateway) }
        let news = JobNews(outbox: outbox, gateway: gateway)
        core.publisher.onAdvance { news.jobAdvanced($0) }
        let discovery = DiscoveryService(
            configuration: configuration, fleet: fleet,
            transport: core.transport, replicator: replicator, logger: logger)
        let metricsPort = configuration.metrics.map { MetricsPort($0) }
        let service = core.service(
            gateway: gateway, discovery: discovery.state, recentLog: recentLog, metricsPort: metricsPort)
        let newsPublisher = NewsPublisher(service: service)
        await newsPublisher.attach()
        let api = LocalServer(configuration.ownSocket, service: service, logger: logger) {
            manager.ready("\(jobs.count) jobs")
        }
        let named = configuration.peers + core.keptPeers.all
        await replicator.updatePlan { plan, now in
            for peer in named { plan.onConfigured(peer, now: now) }
        }
        let reload = ReloadService(manager: manager, logger: logger, check: check)
        var lifecycle = ServiceGroupConfiguration(
            // Stopped in reverse: first the streams end, then the local API, the network last.
            services: [
                .init(service: core.housekeeping), .init(service: PublisherService(publisher: core.publisher)),
                .init(service: newsPublisher),
                .init(service: JobNewsService(news: news, outbox: outbox)),
                .init(
                    service: TransportService(
                        transport: core.transport, fleet: configuration.waitsForFleet ? fleet : nil)),
                .init(service: discovery),
                .init(
                    service: SuspendService(logger: logger) {
                        await replicator.resumed()
                        await gateway?.resumed()
                        discovery.resumed()
                    }),
                .init(service: FleetService(fleet: fleet, store: store, replicator: replicator, machine: core.machine)),
                .init(
                    service: Renewer(
                        fleet: fleet, transport: core.transport, replicator: replicator, machine: core.machine,
                        server: server.map { ($0.client, $0.gateway) }, logger: logger)),
                .init(service: Watchdog(manager: manager, replicator: replicator, store: store)), .init(service: api),
                // Whoever hears of a stop waits for an end.
                .init(service: StreamEnder(hub: core.hub) { if !reload.wantsStart { manager.stopping() } }),
                .init(service: reload, successTerminationBehavior: .gracefullyShutdownGroup),
                .init(service: LastResort(logger: logger, reload: reload)),
            ], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        if let socket = configuration.readingSocket {
            lifecycle.services.append(.init(service: LocalServer(socket, service: service, logger: logger)))
        }
        if let metricsPort {
            lifecycle.services.append(
                .init(service: MetricsServer(metricsPort, logger: logger) { try await service.metrics() }))
        }
        if let server { lifecycle.services += server.services }
        // Everything acknowledged is durable: whoever does not let go by then is not waited for.
        lifecycle.maximumGracefulShutdownDuration = .seconds(2)
        // Without its sockets nobody could ask it anything: that is no stop, but a start that failed.
        var failure: APIError?
        do {
            try await ServiceGroup(configuration: lifecycle).run()
        } catch let error as APIError {
            failure = error
        } catch  where core.hub.hasFinished {
            logger.warning("a service did not stop in time and was cancelled", metadata: ["error": "\(error)"])
        }
        await replicator.finishNotes()
        // Else everything may stand in the log beside the store, and a copy of the one without the other is empty. In a task of its own:
        // this one may be cancelled.
        if !reload.wantsStart { await Task { _ = try? await store.truncateLog() }.value }
        try store.close()
        if let failure { throw failure }
        guard !reload.wantsStart else { return .reloads }
        logger.info("stopped")
        return .stopped
    }
}
