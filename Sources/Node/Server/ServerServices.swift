import Engine
import ServerChannel
import ServiceLifecycle

/// The gateway and its watch over routes as a service of the daemon.
struct GatewayService: Service {
    let gateway: Gateway
    let client: ChannelClient
    let watcher: RouteWatcher

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
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
