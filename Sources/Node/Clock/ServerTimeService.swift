import ServerChannel
import ServiceLifecycle
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
