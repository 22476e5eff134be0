import Engine
import ServerChannel
import ServiceLifecycle
import Synchronization

/// Brings the server's time to the clock.
struct ServerTimeService: Service {
    let server: ServerClock
    let replicator: Replicator

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await server.run { exchange in
                await replicator.learn(.server(exchange))
            }
        }
    }
}

/// When the server last told the time beside something else: it then need not be asked for it.
final class ServerTimes: Sendable {
    private static let lastingMilliseconds: UInt64 = 64_000

    private let last = Mutex<UInt64?>(nil)
    private let hasRoute = Mutex(true)

    /// Without a way to the server nobody asks.
    func routeChanged(isUp: Bool) {
        hasRoute.withLock { $0 = isUp }
    }

    func heard() {
        last.withLock { $0 = SystemClock.elapsedMilliseconds }
    }

    var isNeeded: Bool {
        guard hasRoute.withLock({ $0 }) else { return false }
        return last.withLock { $0 }.map { SystemClock.elapsedMilliseconds - $0 > Self.lastingMilliseconds } ?? true
    }
}
