import CRDT
import Synchronization

/// Jobs of which a laptop has shown more of this server's own channel than the server holds: it was set back.
///
/// Nothing more is said of them until it has been served with --recover. Whatever it said before would stand where the
/// words stand that it has lost, and those could not follow any more.
final class SetBackJobs: Sendable {
    private let jobs = Mutex<Set<JobID>>([])

    /// - Returns: false when it is known.
    func insert(_ job: JobID) -> Bool { jobs.withLock { $0.insert(job).inserted } }

    func contains(_ job: JobID) -> Bool { jobs.withLock { $0.contains(job) } }
}
