import CMalloc
import CRDT
import Logging
import ServiceLifecycle
import Storage

/// Does what can wait until a job is quiet: the digest, what removed jobs have left (rule R10), the write-ahead log, unused
/// memory.
///
/// Nothing runs, and no timer, while nothing changes.
final class Housekeeping: Service {
    /// How long a job has to be quiet.
    private let quiet: Duration
    /// When a job is tried again that could not be tidied up, the disk being full say.
    private let retry: Duration
    private let store: Store
    private let atRest: @Sendable (JobID) async throws -> RestNote?
    private let logger: Logger
    private let changes: AsyncStream<JobID>
    private let report: AsyncStream<JobID>.Continuation

    /// - Parameter atRest: finds out what is to be written down of a job; nil for what the store does.
    init(
        store: Store, logger: Logger, quiet: Duration = .seconds(2), retry: Duration = .seconds(60),
        atRest: (@Sendable (JobID) async throws -> RestNote?)? = nil
    ) {
        self.store = store
        self.atRest = atRest ?? { try await store.restNote(of: $0) }
        self.logger = logger
        self.quiet = quiet
        self.retry = retry
        (changes, report) = AsyncStream.makeStream()
    }

    func jobChanged(_ job: JobID) {
        report.yield(job)
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

    /// What removed jobs have left, and the pages in which it stood.
    private func free() async {
        do {
            try await store.freeRemoved()
        } catch {
            logger.warning("what a removed job has left could not be freed", metadata: ["error": "\(error)"])
        }
    }

    private func shortenLog() async {
        do {
            try await store.checkpoint()
            try await store.truncateLog(beyond: Self.longLogBytes)
        } catch {
            logger.warning("the store's log could not be moved into its file", metadata: ["error": "\(error)"])
        }
    }

    private func tidy(_ dirty: DirtyJobs) async {
        while true {
            try? await Task.sleep(for: quiet)
            let jobs = await dirty.removeAll(quietFor: quiet)
            for start in stride(from: 0, to: jobs.count, by: Self.jobsTogether) {
                await tidy(jobs[start..<min(start + Self.jobsTogether, jobs.count)], dirty)
            }
            if !jobs.isEmpty {
                await free()
                await shortenLog()
                malloc_trim(0)
            }
            if await dirty.end() { return }
        }
    }

    /// So many are written down in one transaction.
    private static let jobsTogether = 64

    private func tidy(_ jobs: ArraySlice<JobID>, _ dirty: DirtyJobs) async {
        var notes: [RestNote] = []
        for job in jobs {
            do {
                if let note = try await atRest(job) { notes.append(note) }
            } catch {
                await failed([job], error, dirty)
            }
        }
        do { try await store.keep(notes) } catch { await failed(notes.map(\.job), error, dirty) }
    }

    private func failed(_ jobs: [JobID], _ error: any Error, _ dirty: DirtyJobs) async {
        logger.warning("jobs could not be tidied up", metadata: ["jobs": "\(jobs)", "error": "\(error)"])
        // Where there is no such job, no other try will find one.
        guard (error as? StoreError)?.code != .unknownJob else { return }
        for job in jobs { await dirty.keep(job, for: retry) }
    }

    /// A log that is longer, after somebody has read for long, is emptied.
    private static let longLogBytes = 16 << 20
}

/// Jobs that have changed and were not tidied up since.
private actor DirtyJobs {
    private struct Changes {
        let first: ContinuousClock.Instant
        var last: ContinuousClock.Instant
    }

    /// Who changes all the time is tidied up now and then all the same, and keeps no other job waiting.
    private static let longest = Duration.seconds(60)

    private var jobs: [JobID: Changes] = [:]
    private var isTidying = false

    /// Returns whether somebody has to begin tidying.
    func mark(_ job: JobID) -> Bool {
        let now = ContinuousClock.now
        jobs[job, default: Changes(first: now, last: now)].last = now
        defer { isTidying = true }
        return !isTidying
    }

    /// Takes a job back that is not done.
    func keep(_ job: JobID, for wait: Duration) {
        let later = ContinuousClock.now + wait
        jobs[job] = Changes(first: later, last: later)
    }

    /// Those that have been quiet for so long, or have waited for long.
    func removeAll(quietFor quiet: Duration) -> [JobID] {
        let now = ContinuousClock.now
        let due = jobs.filter { now - $0.value.last >= quiet || now - $0.value.first >= Self.longest }.keys.sorted()
        for job in due { jobs[job] = nil }
        return due
    }

    /// Returns whether the work is over.
    func end() -> Bool {
        isTidying = !jobs.isEmpty
        return !isTidying
    }
}
