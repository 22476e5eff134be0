import CRDT
import Discovery
import Engine
import Identity
import LocalAPI
import Logging
import Replication
import ServiceLifecycle
import Transport

/// Brings discovery and dialling together: what is found is dialled.
struct DiscoveryService: Service {
    let state: DiscoveryState
    private let configuration: NodeConfiguration
    private let fleet: FleetIdentity
    private let transport: PeerTransport
    private let replicator: Replicator
    private let watcher: RouteWatcher
    private let logger: Logger
    private let occasions: AsyncStream<Occasion>
    private let occasion: AsyncStream<Occasion>.Continuation

    /// Why discovery begins anew.
    private enum Occasion {
        /// What is announced may be something else.
        case fleetChanged
        /// Others can connect.
        case listening
        /// The network may be another one.
        case resumed
    }

    init(
        configuration: NodeConfiguration, fleet: FleetIdentity, transport: PeerTransport, replicator: Replicator,
        logger: Logger
    ) {
        self.configuration = configuration
        self.fleet = fleet
        self.transport = transport
        self.replicator = replicator
        watcher = RouteWatcher(logger: logger)
        self.logger = logger
        (occasions, occasion) = AsyncStream.makeStream()
        let off: String? =
            !configuration.usesDiscovery
            ? "Switched off by --no-discovery."
            : configuration.isLoopbackOnly ? "This daemon listens on this machine only; see --listen." : nil
        state = DiscoveryState(DiscoveryStatus(state: off == nil ? .unavailable : .off, reason: off))
    }

    func run() async throws {
        guard state.status.state != .off else {
            try? await gracefulShutdown()
            return
        }
        // It has a queue of its own, and nothing to gain from the event loop's thread.
        await cancelWhenGracefulShutdown {
            await withTaskExecutorPreference(globalConcurrentExecutor) { await discover() }
        }
    }

    /// The laptop was asleep: what is known was learned on another network, perhaps.
    func resumed() { occasion.yield(.resumed) }

    /// Announces what this laptop is, and begins anew whenever that is something else.
    private func discover() async {
        let changes = fleet.changes()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in changes { occasion.yield(.fleetChanged) } }
            while !Task.isCancelled {
                // Most often it listens at once, and the first that is asked has the port already.
                await listens(within: .seconds(1))
                await discover(as: advertisement)
            }
            group.cancelAll()
        }
    }

    private func discover(as advertisement: Advertisement?) async {
        let waits = waitsForFleet
        let discovery = ServiceDiscovery(advertisement: advertisement, logger: logger)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await discovery.run() }
            group.addTask { await handleAll(of: discovery) }
            if advertisement == nil {
                group.addTask { if await listens(within: nil) { occasion.yield(.listening) } }
            } else {
                group.addTask { for await _ in watcher.tables() { await discovery.networkChanged() } }
            }
            for await occasion in occasions {
                guard occasion != .resumed, waits == waitsForFleet, self.advertisement == advertisement else { break }
            }
            group.cancelAll()
        }
    }

    /// What the others are told; nil for who only looks, since nobody could connect to it.
    private var advertisement: Advertisement? { waitsForFleet ? nil : transport.boundPort.map(advertisement(of:)) }

    private var waitsForFleet: Bool { configuration.waitsForFleet && fleet.membership == nil }

    private func advertisement(of port: Int) -> Advertisement {
        let device = fleet.device.short
        return Advertisement(
            instanceName: "muster-\(device)", port: UInt16(clamping: port),
            protocolVersion: Int(ProtocolLimits.version), id: device, fleet: fleet.membership?.trust.short ?? "")
    }

    /// Takes what discovery tells until it ends; then nothing is known to be there any more.
    private func handleAll(of discovery: ServiceDiscovery) async {
        var present: Set<String> = []
        for await event in discovery.events {
            switch event {
            case .found(let service): present.insert(service.instanceName)
            case .lost(let name): present.remove(name)
            case .available, .unavailable, .advertised: break
            }
            await handle(event)
        }
        state.forgetServices()
        for name in present { await replicator.vanished(name) }
    }

    /// Returns when the listener has its port, which may be taken or on an address that is not there yet; and when there is nothing
    /// to wait for.
    ///
    /// - Parameter limit: nil to wait for as long as it takes.
    @discardableResult
    private func listens(within limit: Duration?) async -> Bool {
        let began = ContinuousClock.now
        while !Task.isCancelled, !waitsForFleet {
            if transport.boundPort != nil { return true }
            let waited = ContinuousClock.now - began
            if let limit, waited > limit { return false }
            try? await Task.sleep(for: waited < .seconds(1) ? .milliseconds(50) : .seconds(1))
        }
        return false
    }

    private func handle(_ event: DiscoveryEvent) async {
        state.note(event)
        switch event {
        case .available, .unavailable: break
        case .advertised(let name):
            logger.debug("advertised", metadata: ["instance": "\(name)"])
        case .found(let service):
            logger.info("discovered", metadata: ["instance": "\(service.instanceName)", "device": "\(service.id)"])
            let addresses = service.addresses.map { PeerAddress(host: $0, port: Int(service.port)) }
            await replicator.discovered(service.instanceName, id: service.id, addresses: addresses)
        case .lost(let name):
            logger.info("no longer announced", metadata: ["instance": "\(name)"])
            await replicator.vanished(name)
        }
    }
}
