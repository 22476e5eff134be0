import Logging
import ServiceLifecycle
import Storage

/// Takes held changes into the items when their time has come (rule R6).
///
/// It sleeps until the next one is due; while nothing is held it has no timer.
final class DueChangesService: Service {
    /// A clock may be put right meanwhile without anybody noticing here: nothing waits longer than this for a look.
    private static let longestSleep: UInt64 = 15 * 60 * 1_000

    private let store: Store
    private let clock: ClockKeeper
    private let replicator: Replicator
    private let logger: Logger

    init(store: Store, clock: ClockKeeper, replicator: Replicator, logger: Logger) {
        self.store = store
        self.clock = clock
        self.replicator = replicator
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await self.lookAgainAndAgain() }
    }

    private func lookAgainAndAgain() async {
        var occasions = replicator.dueOccasions.makeAsyncIterator()
        var timer: Task<Void, Never>?
        repeat {
            timer?.cancel()
            timer = await look().map { delay in
                Task { [replicator] in
                    guard (try? await Task.sleep(for: .milliseconds(delay))) != nil else { return }
                    replicator.lookForDueChanges()
                }
            }
        } while await occasions.next() != nil && !Task.isCancelled
        timer?.cancel()
    }

    /// Returns how long nothing is due, in milliseconds; nil when nothing is held.
    private func look() async -> UInt64? {
        let now = clock.now
        do {
            let due = try await store.applyDue(now: now)
            for job in due.jobs { await replicator.itemsChanged(job) }
            guard let next = due.nextDue else { return nil }
            return min(max(next, now.milliseconds) - now.milliseconds + 1, Self.longestSleep)
        } catch {
            logger.warning("changes that are due could not be applied", metadata: ["error": "\(error)"])
            return 60_000
        }
    }
}
