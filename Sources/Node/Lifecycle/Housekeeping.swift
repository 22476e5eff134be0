import CMalloc
import CRDT
import Logging
import ServiceLifecycle
import Storage
import Synchronization

/// Does what can wait until a job is quiet: the barcode index, the digest, the roster and what may be forgotten (rule R10),
/// the write-ahead log, unused memory.
///
/// Nothing runs, and no timer, while nothing changes.
final class Housekeeping: Service {
    /// How long a job has to be quiet.
    private let quiet: Duration
    /// When a job is tried again that could not be tidied up, the disk being full say.
    private let retry: Duration
    private let store: Store
    private let logger: Logger
    private let changes: AsyncStream<JobID>
    private let report: AsyncStream<JobID>.Continuation
    /// Takes the next step towards forgetting what may be forgotten of a job.
    private let retire = Mutex<(@Sendable (JobID) async throws -> Void)?>(nil)

    init(store: Store, logger: Logger, quiet: Duration = .seconds(2), retry: Duration = .seconds(60)) {
        self.store = store
        self.logger = logger
        self.quiet = quiet
        self.retry = retry
        (changes, report) = AsyncStream.makeStream()
    }

    func jobChanged(_ job: JobID) {
        report.yield(job)
    }

    func onQuiet(_ retire: @escaping @Sendable (JobID) async throws -> Void) {
        self.retire.withLock { $0 = retire }
    }

    func run() async throws {
        let dirty = DirtyJobs()
        await withGracefulShutdownHandler {
            for await job in changes {
                if await dirty.mark(job) { Task { await self.tidy(dirty) } }
            }
        } onGracefulShutdown: {
            self.report.finish()
        }
    }

    private func tidy(_ dirty: DirtyJobs) async {
        var wait = quiet
        while true {
            try? await Task.sleep(for: wait)
            guard await dirty.isQuiet() else { continue }
            let jobs = await dirty.take()
            wait = quiet
            for job in jobs {
                do {
                    try await retire.withLock { $0 }?(job)
                    try await store.settle(job)
                } catch {
                    logger.warning("a job could not be tidied up", metadata: ["job": "\(job)", "error": "\(error)"])
                    // Where there is no such job, no other try will find one.
                    guard (error as? StoreError)?.code != .unknownJob else { continue }
                    await dirty.keep(job)
                    wait = retry
                }
            }
            try? await store.checkpoint()
            malloc_trim(0)
            if await dirty.end() { return }
        }
    }
}

/// Jobs that have changed since the last time that was quiet.
private actor DirtyJobs {
    private var jobs: Set<JobID> = []
    private var hasChanged = false
    private var isTidying = false

    /// Returns whether somebody has to begin tidying.
    func mark(_ job: JobID) -> Bool {
        jobs.insert(job)
        hasChanged = true
        defer { isTidying = true }
        return !isTidying
    }

    /// Takes a job back that is not done.
    func keep(_ job: JobID) {
        jobs.insert(job)
    }

    /// Whether nothing came since the last call.
    func isQuiet() -> Bool {
        defer { hasChanged = false }
        return !hasChanged
    }

    func take() -> [JobID] {
        defer { jobs = [] }
        return jobs.sorted()
    }

    /// Returns whether the work is over.
    func end() -> Bool {
        isTidying = !jobs.isEmpty
        return !isTidying
    }
}
