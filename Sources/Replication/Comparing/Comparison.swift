import CRDT

/// How far what a peer holds has been compared with what this device holds.
///
/// Each side asks the other, at its own pace, and answers without remembering: memory is bounded by what was asked for,
/// and nobody has to be refused because both hold much.
struct Comparison: Sendable {
    enum Phase: Hashable, Sendable {
        /// The peer's fingerprint of all jobs has not come.
        case waiting
        /// It is another one: the buckets were asked for.
        case asked
        case bucketwise
    }

    var phase = Phase.waiting
    /// Of a job in such a bucket the peer holds what this device holds, unless the link says otherwise.
    private(set) var isSettled = [Bool](repeating: false, count: JobFingerprints.bucketCount)
    private(set) var unsettledCount = JobFingerprints.bucketCount
    /// Buckets that differ, and whose jobs have yet to be asked for.
    var waitingBuckets = WorkQueue<Int>()
    var askedBuckets: Set<Int> = []
    /// Jobs that may differ, and whose vectors have yet to be asked for.
    var waitingJobs = WorkQueue<JobID>()
    var askedJobs: Set<JobID> = []

    /// More jobs were to wait than are remembered: when those have been compared all are compared again.
    private(set) var hasOverflowed = false

    /// A job may differ.
    mutating func wait(_ job: JobID) {
        guard waitingJobs.count < MeshLimits.waitingJobsPerLink else {
            hasOverflowed = true
            return
        }
        waitingJobs.append(job)
    }

    /// The same for a job in which something happens: it is compared before the others.
    mutating func hurry(_ job: JobID) {
        wait(job)
        if waitingJobs.contains(job) { waitingJobs.prepend(job) }
    }

    /// Begins anew, with the buckets.
    mutating func restart() {
        self = Comparison()
        phase = .asked
    }

    mutating func noteEqual(_ bucket: Int) {
        guard !isSettled[bucket] else { return }
        isSettled[bucket] = true
        unsettledCount -= 1
    }

    /// Whether a job of which the link says nothing is held alike.
    func isEqual(_ job: JobID) -> Bool {
        guard !hasOverflowed, unsettledCount == 0 || isSettled[JobFingerprints.bucket(of: job)] else { return false }
        return !waitingJobs.contains(job) && !askedJobs.contains(job)
    }

    /// A lower bound of the jobs of which it is not known how the peer holds them.
    var unknownCount: Int {
        max(waitingJobs.count + askedJobs.count, unsettledCount > 0 || hasOverflowed ? 1 : 0)
    }
}
