import CRDT

/// A new link's two ends find the jobs in which they differ: one number for all jobs, then one for each bucket of job
/// ids, then one for each job of the buckets that differ, then the vectors of the jobs that differ.
///
/// What a peer is known to hold is kept for the jobs in which it differs, or which have changed lately: such a job is
/// *open* on the link. Of all others it is known that both hold the same, which costs nothing to remember.
extension Mesh {
    mutating func onComparing(_ message: Message, on link: LinkID, now: UInt64) -> [LinkDirective] {
        switch message {
        case .fingerprint(let fingerprint): return onFingerprint(fingerprint, on: link)
        case .bucketsRequest:
            refreshFingerprints()
            return [.send(.buckets(fingerprints.values(instead: barredJobs(link))), on: link)]
        case .buckets(let values): return onBuckets(values, on: link)
        case .summariesRequest(let bucket): return [.send(summaries(of: bucket, for: link), on: link)]
        case .summaries(let bucket, let summaries): return onSummaries(summaries, of: Int(bucket), on: link)
        case .vectorRequest(let job): return sendVector(of: job, on: link)
        default: return []
        }
    }

    mutating func refreshFingerprints() {
        let (jobs, rosters) = (jobs, rosters)
        fingerprints.refresh { Self.fingerprint(of: jobs[$0], rosters[$0]) }
    }

    /// Equal on two devices that hold the same of a job, and know the same of who is on it; nil when nothing is held or known.
    private static func fingerprint(of job: JobProgress?, _ roster: JobRoster?) -> UInt64? {
        let holdings = job?.fingerprint
        guard holdings != nil || roster != nil else { return nil }
        return (holdings ?? 0) &+ (roster?.fingerprint ?? 0)
    }

    /// The same of what a peer may be told.
    private func fingerprint(of job: JobID, for id: LinkID) -> UInt64? {
        isBarred(from: job, id) ? barredFingerprint(of: job, for: id) : Self.fingerprint(of: jobs[job], rosters[job])
    }

    private mutating func onFingerprint(_ fingerprint: UInt64, on id: LinkID) -> [LinkDirective] {
        guard links[id]?.comparison.phase == .waiting else { return [] }
        refreshFingerprints()
        guard fingerprint != fingerprints.all(instead: barredJobs(id)) else {
            links[id]?.comparison.phase = .bucketwise
            noteEqual(Array(0..<JobFingerprints.bucketCount), on: id)
            return []
        }
        links[id]?.comparison.phase = .asked
        return [.send(.bucketsRequest, on: id)]
    }

    private mutating func onBuckets(_ values: [UInt64], on id: LinkID) -> [LinkDirective] {
        guard links[id]?.comparison.phase == .asked else { return [] }
        guard values.count == JobFingerprints.bucketCount else {
            return [refuse(id, "The peer compares jobs in another way.")]
        }
        links[id]?.comparison.phase = .bucketwise
        refreshFingerprints()
        let own = fingerprints.values(instead: barredJobs(id))
        let equal = values.indices.filter { values[$0] == own[$0] }
        noteEqual(equal, on: id)
        for bucket in values.indices where values[bucket] != own[bucket] {
            links[id]?.comparison.waitingBuckets.append(bucket)
        }
        return continueComparing(on: id)
    }

    /// Both hold the same of all jobs in some buckets.
    private mutating func noteEqual(_ buckets: [Int], on id: LinkID) {
        for bucket in buckets { links[id]?.comparison.noteEqual(bucket) }
        guard let openJobs = links[id]?.jobs.keys, !openJobs.isEmpty else { return }
        let settled = Set(buckets)
        for job in openJobs where settled.contains(JobFingerprints.bucket(of: job)) { noteEqual(job, on: id) }
    }

    /// The peer held of an open job what this device holds, and may have told of more since.
    private mutating func noteEqual(_ job: JobID, on id: LinkID) {
        // Of a job that the peer is barred from only what it may hear was compared.
        guard !isBarred(from: job, id) else { return }
        let own = vector(of: job)
        let before = links[id]?.jobs[job]?.peer.entries.count ?? 0
        for entry in own.entries { links[id]?.jobs[job]?.peer.advance(entry.replica, to: entry.head) }
        let count = links[id]?.jobs[job]?.peer.entries.count ?? 0
        links[id]?.entryCount += count - before
        links[id]?.jobs[job]?.announced = own
        links[id]?.jobs[job]?.removal = jobs[job]?.removal
    }

    private mutating func summaries(of bucket: UInt32, for id: LinkID) -> Message {
        refreshFingerprints()
        guard bucket < JobFingerprints.bucketCount else { return .summaries(bucket: bucket, []) }
        let listed = fingerprints.jobs(in: Int(bucket)).compactMap { job in
            fingerprint(of: job, for: id).map { JobSummary(job: job, fingerprint: $0) }
        }
        return .summaries(bucket: bucket, Array(listed.prefix(ProtocolLimits.summariesPerMessage)))
    }

    private mutating func onSummaries(_ summaries: [JobSummary], of bucket: Int, on id: LinkID) -> [LinkDirective] {
        guard links[id]?.comparison.askedBuckets.remove(bucket) != nil else { return [] }
        refreshFingerprints()
        var listed: Set<JobID> = []
        for summary in summaries where JobFingerprints.bucket(of: summary.job) == bucket {
            listed.insert(summary.job)
            if fingerprint(of: summary.job, for: id) == summary.fingerprint {
                noteEqual(summary.job, on: id)
            } else {
                links[id]?.comparison.wait(summary.job)
            }
        }
        for job in fingerprints.jobs(in: bucket)
        where !listed.contains(job) && links[id]?.jobs[job] == nil && !isBarred(from: job, id) {
            // It holds nothing of it, and will ask for the vector. Who is on a job that this laptop is not on does not list it, and
            // says what it holds of this laptop's own when it is asked.
            if !isDismissed(from: job), hasRoom(on: id) {
                open(job, on: id, peer: VersionVector(), announced: VersionVector())
            } else {
                links[id]?.comparison.wait(job)
            }
        }
        links[id]?.comparison.noteEqual(bucket)
        return continueComparing(on: id)
    }

    /// Asks for as much as there is room for.
    mutating func continueComparing(on id: LinkID) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        while links[id]?.comparison.askedJobs.count ?? .max < MeshLimits.vectorsUnderWay, hasRoom(on: id),
            let job = links[id]?.comparison.waitingJobs.popFirst()
        {
            links[id]?.comparison.askedJobs.insert(job)
            directives.append(.send(.vectorRequest(job: job), on: id))
        }
        while links[id]?.comparison.askedBuckets.count ?? .max < MeshLimits.bucketsUnderWay,
            links[id]?.comparison.waitingJobs.count ?? .max < MeshLimits.openJobsPerLink,
            let bucket = links[id]?.comparison.waitingBuckets.popFirst()
        {
            links[id]?.comparison.askedBuckets.insert(bucket)
            directives.append(.send(.summariesRequest(bucket: UInt32(bucket)), on: id))
        }
        return directives
    }

    // MARK: Open jobs

    /// Whether more may be remembered of what a peer holds. What there is no room for is asked for later.
    func hasRoom(on id: LinkID) -> Bool {
        guard let count = links[id]?.jobs.count, let entryCount = links[id]?.entryCount,
            let asked = links[id]?.comparison.askedJobs.count
        else { return false }
        return count + asked < MeshLimits.openJobsPerLink && entryCount < MeshLimits.entriesPerLink
    }

    mutating func open(_ job: JobID, on id: LinkID, peer: VersionVector, announced: VersionVector) {
        let removal = peer.entries.isEmpty ? nil : jobs[job]?.removal
        links[id]?.jobs[job] = LinkJob(peer: peer, announced: announced, removal: removal)
        links[id]?.entryCount += peer.entries.count
    }

    /// Opens a job of which the peer is known to hold what this device holds; later, where there is no room.
    ///
    /// - Returns: whether the job is open.
    @discardableResult
    mutating func openIfEqual(_ job: JobID, on id: LinkID) -> Bool {
        if links[id]?.jobs[job] != nil { return true }
        guard isHeldAlike(job, by: id) else { return false }
        guard hasRoom(on: id) else {
            links[id]?.comparison.wait(job)
            return false
        }
        // The arrays are shared until one of them changes.
        let own = vector(of: job)
        open(job, on: id, peer: own, announced: own)
        return true
    }

    /// To be called before what this device holds of a job changes: what the peers hold changes no more with it.
    mutating func willChange(_ job: JobID) {
        fingerprints.changed(job)
        for id in establishedLinks { openIfEqual(job, on: id) }
    }

    /// Forgets what is known of a peer's copy of a job.
    mutating func close(_ job: JobID, on id: LinkID) {
        guard let known = links[id]?.jobs.removeValue(forKey: job) else { return }
        links[id]?.entryCount -= known.peer.entries.count
    }

    /// Forgets what is known of a peer's copy of a job if it is the same as this device's, and everything was announced to it.
    mutating func closeIfEqual(_ job: JobID, on id: LinkID) {
        guard let known = links[id]?.jobs[job], !known.isLazy, known.peer == vector(of: job),
            known.removal == jobs[job]?.removal,
            !unacknowledgedJobs.contains(job), !unannouncedJobs.contains(job),
            !(links[id]?.withheld.contains(job) ?? false), isHeldAlike(job, by: id)
        else { return }
        close(job, on: id)
    }

    /// Makes room where a comparison waits for it.
    mutating func makeRoom(_ changed: some Sequence<JobID>) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        let waiting = establishedLinks.filter { !(links[$0]?.comparison.waitingJobs.isEmpty ?? true) }
        guard !waiting.isEmpty else { return [] }
        for id in waiting {
            for job in changed { closeIfEqual(job, on: id) }
            directives += continueComparing(on: id)
        }
        return directives
    }

    /// Looks at the open jobs of a link, now and then: forgets those that are quiet, and asks again for what is missing.
    mutating func sweep(_ id: LinkID) -> [LinkDirective] {
        for job in links[id]?.jobs.keys.sorted() ?? [] {
            links[id]?.jobs[job]?.quietRounds += 1
            if links[id]?.jobs[job]?.quietRounds ?? 0 >= MeshLimits.quietRounds { links[id]?.jobs[job]?.isLazy = false }
            closeIfEqual(job, on: id)
            want(job, from: id)
        }
        rotate(id)
        guard let comparison = links[id]?.comparison, comparison.hasOverflowed, comparison.waitingJobs.isEmpty,
            comparison.askedJobs.isEmpty
        else { return continueComparing(on: id) }
        links[id]?.comparison.restart()
        return [.send(.bucketsRequest, on: id)]
    }

    /// Lets waiting jobs have their turn where there is no room for long: the peer may have something to give in those,
    /// and it has nothing in an open job of which it only lacks something.
    private mutating func rotate(_ id: LinkID) {
        guard !hasRoom(on: id), !(links[id]?.comparison.waitingJobs.isEmpty ?? true) else { return }
        for job in links[id]?.jobs.keys.sorted() ?? [] where !(links[id]?.wanted.contains(job) ?? true) {
            guard let known = links[id]?.jobs[job], known.quietRounds > 1 else { continue }
            close(job, on: id)
            links[id]?.comparison.wait(job)
        }
    }
}
