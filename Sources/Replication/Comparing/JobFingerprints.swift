import CRDT

/// What a device holds, in few bytes: the fingerprints of all its jobs added up in buckets of their ids' hashes.
///
/// Two devices that hold the same need one number to know it. Where they differ they compare bucket by bucket, so that
/// the cost follows what differs, not what is stored (Demers et al., "Epidemic algorithms for replicated database
/// maintenance", 1987, section 1.3, compares checksums in the same way).
struct JobFingerprints: Sendable {
    /// Of 5,000 jobs 20 share a bucket.
    static let bucketCount = ProtocolLimits.jobBuckets

    private var buckets = [UInt64](repeating: 0, count: Self.bucketCount)
    private var jobs = [Set<JobID>](repeating: [], count: Self.bucketCount)
    /// What each job adds to its bucket.
    private var terms: [JobID: UInt64] = [:]
    /// Jobs that have changed since they were added up.
    private var stale: Set<JobID> = []

    static func bucket(of job: JobID) -> Int {
        Int(hash(job, key: 0) % UInt64(bucketCount))
    }

    mutating func changed(_ job: JobID) {
        stale.insert(job)
    }

    /// Adds up what has changed. Only when somebody asks: a commit must not cost a walk through its job's vector.
    ///
    /// - Parameter fingerprint: of a job as it is now; nil of one of which nothing is held.
    mutating func refresh(_ fingerprint: (JobID) -> UInt64?) {
        // In any order: sums do not depend on it.
        for job in stale {
            let bucket = Self.bucket(of: job)
            let term = Self.term(of: job, fingerprint(job))
            buckets[bucket] = buckets[bucket] &- (terms[job] ?? 0) &+ term
            if term == 0 {
                terms[job] = nil
                jobs[bucket].remove(job)
            } else {
                terms[job] = term
                jobs[bucket].insert(job)
            }
        }
        stale.removeAll(keepingCapacity: true)
    }

    /// As of the last `refresh`; so are the others.
    func all(instead others: [(job: JobID, fingerprint: UInt64?)]) -> UInt64 {
        values(instead: others).withUnsafeBytes { SipHash.hash($0, key: (0, 0)) }
    }

    /// - Parameter others: jobs that are added up with another fingerprint, or with none; each once.
    func values(instead others: [(job: JobID, fingerprint: UInt64?)]) -> [UInt64] {
        var values = buckets
        for (job, fingerprint) in others {
            let bucket = Self.bucket(of: job)
            values[bucket] = values[bucket] &- (terms[job] ?? 0) &+ Self.term(of: job, fingerprint)
        }
        return values
    }

    private static func term(of job: JobID, _ fingerprint: UInt64?) -> UInt64 {
        fingerprint.map { hash(job, key: $0) | 1 } ?? 0
    }

    /// The jobs of one bucket of which something is held, by id.
    func jobs(in bucket: Int) -> [JobID] { jobs[bucket].sorted() }

    private static func hash(_ job: JobID, key: UInt64) -> UInt64 {
        var text = job.text
        return text.withUTF8 { SipHash.hash(UnsafeRawBufferPointer($0), key: (key, 0x6d75_7374_6572_0003)) }
    }
}
