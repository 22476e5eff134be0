package import Logging
import ServiceLifecycle
import Synchronization
package import Systemd
import UnixSignals

/// Takes up settings that have changed, when the system says so (SIGHUP).
///
/// A daemon ends as if it was told to stop, and begins anew in the same process: there is one way in which settings take effect, and
/// a start takes less than a tenth of a second. Settings that are wrong end nothing.
package final class ReloadService: Service {
    private let manager: ServiceManager
    private let logger: Logger
    private let check: @Sendable () async throws -> Bool
    private let isTaken = Mutex(false)

    /// Whether the daemon is to begin anew once it has ended.
    package var wantsStart: Bool { isTaken.withLock { $0 } }

    /// - Parameter check: whether the settings are others by now; throws a sentence for such that cannot be used.
    package init(manager: ServiceManager, logger: Logger, check: @escaping @Sendable () async throws -> Bool) {
        self.manager = manager
        self.logger = logger
        self.check = check
    }

    /// Returns when there are settings to take up, or the daemon stops. At a terminal this signal says that it is gone, and ends the
    /// daemon as it ends every program.
    package func run() async throws {
        guard manager.isThere else { return try await gracefulShutdown() }
        await cancelWhenGracefulShutdown { [self] in
            let signals = await UnixSignalsSequence(trapping: .sighup)
            // What has changed since they were read was told while nobody listened.
            if (try? await check()) ?? false { return take() }
            for await _ in signals {
                manager.reloading()
                do {
                    guard try await check() else {
                        manager.ready("the same settings as before")
                        continue
                    }
                    return take()
                } catch {
                    logger.error(
                        "the settings cannot be used; those of before stay", metadata: ["reason": "\(error)"])
                    manager.ready("the settings of before: those of now cannot be used, see the log")
                }
            }
        }
    }

    private func take() {
        logger.notice("other settings are taken up: beginning anew")
        isTaken.withLock { $0 = true }
    }
}
