package import CRDT

/// What goes over in a file instead of a connection: by the same rules, to somebody who cannot be asked.
extension Mesh {
    /// What is told of a job to a laptop of which nobody knows what it holds.
    package struct CarriedJob: Hashable, Sendable {
        /// The job.
        package let job: JobID
        /// Who is on it: before anything else.
        package let statements: [Assignment]
        /// How far its journals are held here, as far as the laptop may be told.
        package let vector: VersionVector
        /// How it has ended; nil while it lives.
        package let end: ToldEnd?
    }

    /// Every job of which a laptop may be told, by id, with what it may be told of it. Of one that it is not on that are its own
    /// journals, and the words that it has to hear.
    package func carriedJobs(for access: JobAccess) -> [CarriedJob] {
        Set(jobs.keys).union(rosters.keys).sorted().compactMap { job in
            let isKnown = hasWritten(access.device, in: job)
            let isBarred = isBarred(from: job, access, knows: isKnown)
            let roster = roster(of: job)
            let mayHear = !isBarred || access.mayHearWords(roster, knows: isKnown)
            let vector = vector(of: job).entries.filter { !isBarred || authors[$0.replica] == access.device }
            let carried = CarriedJob(
                job: job, statements: mayHear ? roster.statements : [], vector: VersionVector(vector),
                end: isBarred ? nil : removal(of: job).map { ToldEnd($0, knowing: roster.fingerprint) })
            return carried.statements.isEmpty && vector.isEmpty && carried.end == nil ? nil : carried
        }
    }

    /// What becomes of the end of a job that somebody tells.
    package enum EndVerdict: Hashable, Sendable {
        /// It is known, or its teller may end nothing.
        case noNews
        /// The job ends.
        case taken
        /// Its teller is not on the job.
        case barred
        /// Its teller goes by other words about who is on the job.
        case otherWords
    }

    /// The end of a job is taken from who is on it and goes by the same words about who is, and from anybody as long as nothing was said
    /// of that.
    ///
    /// - Parameter isBarred: whether its teller must not be told of the job.
    func verdict(on end: ToldEnd, of job: JobID, by access: JobAccess, isBarred: Bool) -> EndVerdict {
        guard access.mayWrite, !(jobs[job]?.removal?.covers(end.removal) ?? false) else { return .noNews }
        let roster = roster(of: job)
        guard roster.isAssigned else { return .taken }
        if isBarred { return .barred }
        return end.words == roster.fingerprint ? .taken : .otherWords
    }

    /// The same of one that came in a file: what its teller holds of the job stands there, too.
    package func verdict(
        on end: ToldEnd, of job: JobID, by access: JobAccess, holding vector: VersionVector
    ) -> EndVerdict {
        let own = self.vector(of: job)
        let isShown = vector.entries.contains { $0.head.sequence > 0 && own[$0.replica] == $0.head }
        let knows = isShown || hasWritten(access.device, in: job)
        return verdict(on: end, of: job, by: access, isBarred: isBarred(from: job, access, knows: knows))
    }

    /// Whether a run shows this store's own journal with more, or with another content, than the mesh knows.
    package func showsOtherOwn(_ segment: JournalSegment, of job: JobID) -> Bool {
        let own = vector(of: job)[segment.replica]
        return segment.replica == replica && (segment.head.sequence > own.sequence || segment.head.contradicts(own))
    }

    /// What this laptop says first.
    package var hello: Hello {
        Hello(
            minimumVersion: ProtocolLimits.minimumVersion, maximumVersion: ProtocolLimits.version, device: device,
            instance: instance, name: name, revocations: revocations)
    }

    /// Whether a laptop has written in a job, as far as is known here.
    func hasWritten(_ device: DeviceID, in job: JobID) -> Bool {
        vector(of: job).entries.contains { authors[$0.replica] == device }
    }

    /// Whether somebody must not be told of a job.
    ///
    /// - Parameter knows: whether they have shown that they hold some of it.
    func isBarred(from job: JobID, _ access: JobAccess, knows: @autoclosure () -> Bool) -> Bool {
        guard access.isInGrace else { return rosters[job].map { !access.mayReceive($0, holds: true) } ?? false }
        return !access.mayReceive(rosters[job] ?? JobRoster(), holds: knows())
    }
}
