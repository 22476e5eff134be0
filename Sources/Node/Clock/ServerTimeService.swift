import ServerChannel
import ServiceLifecycle
import Synchronization
import Timekeeping

/// Brings the server's time to the clock.
struct ServerTimeService: Service {
    let server: ServerClock
    let replicator: Replicator

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await server.run { exchange in
                let quality = ClockQuality(stratum: 0, uncertainty: 0)
                await replicator.learn(ToldTime(exchange: exchange, quality: quality, source: .server))
            }
        }
    }
}

/// When the server last told the time beside something else: it then need not be asked for it.
final class ServerTimes: Sendable {
    private static let lastingMilliseconds: UInt64 = 64_000

    private let last = Mutex<UInt64?>(nil)

    func heard() {
        last.withLock { $0 = SystemClock.elapsedMilliseconds }
    }

    var isNeeded: Bool {
        last.withLock { $0 }.map { SystemClock.elapsedMilliseconds - $0 > Self.lastingMilliseconds } ?? true
    }
}
