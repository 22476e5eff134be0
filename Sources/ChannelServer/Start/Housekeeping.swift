import CMalloc
import Logging
import ServiceLifecycle
import Storage

/// Now and then moves what was written from the write-ahead log into the database, and gives unused memory back.
struct Housekeeping: Service {
    private static let interval = Duration.seconds(120)

    let store: Store
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.interval)) != nil {
                do {
                    // Page caches grow up to their bound with what is written, and are worth little afterwards.
                    try await store.checkpoint()
                    try await store.truncateLog()
                    malloc_trim(0)
                } catch {
                    if Task.isCancelled { return }
                    logger.warning("the write-ahead log could not be emptied", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}
