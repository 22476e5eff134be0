import CRDT
import Engine
import Logging
import ServerChannel
import ServiceLifecycle

/// What this laptop has to do with the company's server.
struct ServerServices {
    let gateway: Gateway
    let client: ChannelClient
    /// In the order in which they are started.
    let services: [ServiceGroupConfiguration.ServiceConfiguration]

    /// - Parameter interval: of polls, in seconds.
    init(_ address: ServerAddress, every interval: Int, core: Core, fleet: FleetIdentity, logger: Logger) {
        let times = ServerTimes()
        let security = FleetServerSecurity(fleet: fleet, replicator: core.replicator, logger: logger)
        let connections = ServerConnections(to: address, security: security)
        client = ChannelClient(connections, security: security, elapsed: { SystemClock.elapsedMicroseconds }) {
            [replicator = core.replicator] exchange in
            times.heard()
            await replicator.learn(.server(exchange))
        }
        gateway = Gateway(
            Gateway.Parts(
                server: client, store: core.store, replicator: core.replicator, outbox: core.outbox,
                machine: core.machine, logger: logger, assignments: core.assignments, metrics: core.counters),
            host: address.host, interval: UInt64(interval) * 1_000
        ) { times.routeChanged(isUp: $0) }
        let asking = ServerClock(
            connections, elapsed: { SystemClock.elapsedMicroseconds }, isNeeded: { times.isNeeded }, logger: logger)
        services = [
            .init(service: ServerTimeService(server: asking, replicator: core.replicator)),
            .init(
                service: GatewayService(
                    gateway: gateway, client: client, watcher: RouteWatcher(logger: logger), fleet: fleet)),
        ]
    }
}

/// The gateway and its watch over routes as a service of the daemon.
struct GatewayService: Service {
    let gateway: Gateway
    let client: ChannelClient
    let watcher: RouteWatcher
    let fleet: FleetIdentity

    func run() async throws {
        let changes = fleet.changes()
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in changes { await gateway.fleetChanged() }
                }
                group.addTask {
                    for await table in watcher.tables() { await gateway.routesChanged(table) }
                }
                group.addTask { await gateway.run() }
                await group.waitForAll()
            }
            await client.close()
        }
    }
}

/// News of jobs as a service of the daemon; the outbox stops with it.
struct JobNewsService: Service {
    let news: JobNews
    let outbox: OutboxDriver

    func run() async throws {
        await cancelWhenGracefulShutdown { await news.run() }
        await outbox.stop()
    }
}
