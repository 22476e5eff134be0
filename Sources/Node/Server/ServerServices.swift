import CRDT
import Logging
import ServerChannel
import ServiceLifecycle
import Synchronization

/// The gateway and its watch over routes as a service of the daemon.
struct GatewayService: Service {
    let gateway: Gateway
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
            await gateway.client.close()
        }
    }
}

/// Tells the outbox and the gateway which jobs have changed: each job once, however often it changed meanwhile.
final class JobNewsService: Service {
    private let changed = Mutex<[JobID: UInt64]>([:])
    private let occasions: AsyncStream<Void>
    private let occasion: AsyncStream<Void>.Continuation
    private let keeper: OutboxKeeper
    private let gateway: Gateway?

    init(keeper: OutboxKeeper, gateway: Gateway?) {
        (occasions, occasion) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.keeper = keeper
        self.gateway = gateway
    }

    /// Must not wait.
    func jobAdvanced(_ job: JobID, fingerprint: UInt64) {
        changed.withLock { $0[job] = fingerprint }
        occasion.yield()
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in self.occasions {
                let jobs = self.changed.withLock { changed in
                    defer { changed = [:] }
                    return changed
                }
                for (job, fingerprint) in jobs {
                    await self.keeper.jobAdvanced(job)
                    await self.gateway?.jobAdvanced(job, fingerprint: fingerprint)
                }
            }
        }
        await keeper.stop()
    }
}
