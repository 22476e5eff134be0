import Logging
import ServiceLifecycle
import Synchronization
import Systemd
import UnixSignals

/// Takes up settings that have changed, when the system says so (SIGHUP).
///
/// The daemon ends as if it was told to stop, and begins anew in the same process: there is one way in which settings take effect, and
/// a start takes less than a tenth of a second. Settings that are wrong end nothing.
final class ReloadService: Service {
    private let manager: ServiceManager
    private let logger: Logger
    private let check: @Sendable () async throws -> Void
    private let isTaken = Mutex(false)

    /// Whether the daemon is to begin anew once it has ended.
    var wantsStart: Bool { isTaken.withLock { $0 } }

    /// - Parameter check: throws a sentence for settings that cannot be used.
    init(manager: ServiceManager, logger: Logger, check: @escaping @Sendable () async throws -> Void) {
        self.manager = manager
        self.logger = logger
        self.check = check
    }

    /// Returns when there are settings to take up, or the daemon stops. At a terminal this signal says that it is gone, and ends the
    /// daemon as it ends every program.
    func run() async throws {
        guard manager.isThere else { return try await gracefulShutdown() }
        await cancelWhenGracefulShutdown { [self] in
            for await _ in await UnixSignalsSequence(trapping: .sighup) {
                manager.reloading()
                do {
                    try await check()
                    logger.notice("the settings are taken up: beginning anew")
                    isTaken.withLock { $0 = true }
                    return
                } catch {
                    logger.error(
                        "the settings cannot be used; those of before stay", metadata: ["reason": "\(error)"])
                    manager.ready("the settings of before: those of now cannot be used, see the log")
                }
            }
        }
    }
}
