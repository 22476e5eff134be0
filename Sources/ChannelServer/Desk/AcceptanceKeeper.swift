import CRDT
import Logging
import Storage
import Synchronization

/// Says in the channel what has been uploaded: a little later, so that many uploads become one entry.
///
/// What was not said before a crash is said some time after the next start: it follows from what is stored.
final class AcceptanceKeeper: Sendable {
    private static let gathering = Duration.milliseconds(500)

    private let store: Store
    private let hub: ChangeHub
    private let setBack: SetBackJobs
    private let now: WallClock
    /// It says nothing in the channel, of which a part may be missing.
    private let isResting: Bool
    private let logger: Logger
    private let waiting = Mutex<Set<JobID>>([])

    init(
        store: Store, hub: ChangeHub, setBack: SetBackJobs, now: WallClock, isResting: Bool, logger: Logger
    ) {
        self.store = store
        self.hub = hub
        self.setBack = setBack
        self.now = now
        self.isResting = isResting
        self.logger = logger
    }

    func uploaded(_ job: JobID) {
        guard !isResting, waiting.withLock({ $0.insert(job).inserted }) else { return }
        Task {
            try? await Task.sleep(for: Self.gathering)
            waiting.withLock { _ = $0.remove(job) }
            await self.accept(job)
        }
    }

    /// All jobs: what was not said before this start, or could not be stored.
    func acceptAll() async throws {
        guard !isResting else { return }
        for known in try await store.vectors() { await accept(known.job) }
    }

    private func accept(_ job: JobID) async {
        guard !setBack.contains(job) else { return }
        do {
            if try await store.acceptHeld(job: job, now: now.received) != nil { hub.changed(job) }
        } catch {
            logger.warning(
                "what was uploaded could not be accepted yet", metadata: ["job": "\(job)", "error": "\(error)"])
        }
    }
}
