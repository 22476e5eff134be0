import CRDT
import Logging
import Storage
import Synchronization

/// Says in the channel what has been uploaded, as an `AcknowledgementPlan` decides for each job.
///
/// What was not said before a crash is said some time after the next start: it follows from what is stored.
final class AcknowledgementBatcher: Sendable {
    private let store: Store
    private let hub: ChangeHub
    private let setBack: SetBackJobs
    private let now: WallClock
    /// It says nothing in the channel, of which a part may be missing.
    private let isResting: Bool
    private let logger: Logger
    private let start = ContinuousClock.now
    /// Of the jobs that had an upload a short time ago; a task follows each.
    private let plans = Mutex<[JobID: AcknowledgementPlan]>([:])

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
        guard !isResting else { return }
        let elapsed = elapsed
        let isFollowed = plans.withLock { plans in
            let isFollowed = plans[job] != nil
            plans[job, default: AcknowledgementPlan()].onUpload(now: elapsed)
            return isFollowed
        }
        if !isFollowed { Task { await self.follow(job) } }
    }

    private func follow(_ job: JobID) async {
        while true {
            let elapsed = elapsed
            let step = plans.withLock { plans in
                let step = plans[job]?.onTimer(now: elapsed) ?? .forget
                if step == .forget { plans[job] = nil }
                return step
            }
            switch step {
            case .acknowledge: await accept(job)
            case .wait(let until): try? await Task.sleep(for: .milliseconds(Int64(clamping: until - elapsed)))
            case .forget: return
            }
        }
    }

    /// Milliseconds that go on whatever becomes of the wall clock.
    private var elapsed: UInt64 {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return UInt64(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    /// Before the server ends: what would have waited for its interval.
    func acceptWaiting() async {
        let waiting = plans.withLock { plans in plans.filter { $0.value.due != nil }.keys.sorted() }
        for job in waiting { await accept(job) }
    }

    /// All jobs: what was not said before this start, or could not be stored.
    func acceptAll() async throws {
        guard !isResting else { return }
        for known in try await store.vectors() { await accept(known.job) }
    }

    private func accept(_ job: JobID) async {
        guard !setBack.contains(job) else { return }
        do {
            if try await store.acknowledgeHeld(job: job, now: now.received) != nil { hub.changed(job) }
        } catch {
            logger.warning(
                "what was uploaded could not be accepted yet", metadata: ["job": "\(job)", "error": "\(error)"])
            // It is tried again with the next interval.
            let elapsed = elapsed
            plans.withLock { $0[job]?.onUpload(now: elapsed) }
        }
    }
}
