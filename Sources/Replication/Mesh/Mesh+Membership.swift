package import CRDT

/// Who is on a job is told of it, and nobody else; what anybody has written is taken from them.
///
/// Of a job from which a peer is *barred* it hears how far this device holds the peer's own journals, and gets those back
/// if it has lost them (rule R9); and who is on the job, if it has shown that it knows of it, is named there, or may assign.
extension Mesh {
    /// Whether a peer must not be told of a job.
    package func isBarred(from job: JobID, _ id: LinkID) -> Bool {
        guard let access = links[id]?.access else { return true }
        return isBarred(from: job, access, knows: knows(job, id))
    }

    /// Whether a peer may be told of one journal, and be sent it.
    func mayTell(_ replica: ReplicaID, of job: JobID, to id: LinkID) -> Bool {
        !isBarred(from: job, id) || authors[replica] == links[id]?.device
    }

    /// Who is on a job, as far as the mesh was told.
    package func roster(of job: JobID) -> JobRoster { rosters[job] ?? JobRoster() }

    /// Whether this laptop is not on a job, so that peers that are say nothing of it.
    func isDismissed(from job: JobID) -> Bool { !seesAllJobs && !(rosters[job]?.includes(device) ?? true) }

    /// The jobs that the peer is barred from, in any order, with what is said of them in a comparison.
    func barredJobs(_ id: LinkID) -> [(job: JobID, fingerprint: UInt64?)] {
        guard let access = links[id]?.access else { return [] }
        var barred = rosters.keys.filter { isBarred(from: $0, id) }
        if access.isInGrace { barred += jobs.keys.filter { rosters[$0] == nil && isBarred(from: $0, id) } }
        return barred.map { (job: $0, fingerprint: barredFingerprint(of: $0, for: id)) }
    }

    /// One number for what a peer may hear of a job that it is barred from: who is on it, and its own journals. Nil where it may not
    /// even know that there is such a job.
    func barredFingerprint(of job: JobID, for id: LinkID) -> UInt64? {
        guard let roster = rosters[job], mayHearWords(of: job, id) else { return nil }
        let own = tellableVector(of: job, to: id)
        return roster.fingerprint &+ (own.entries.isEmpty ? 0 : own.fingerprint)
    }

    /// Whether a peer may be told who is on a job. As words come before all else, it may where it may be told of the job; and where it
    /// is barred by words that it has to hear, so that two who say who is on a job apart agree when they meet.
    func mayHearWords(of job: JobID, _ id: LinkID) -> Bool {
        guard isBarred(from: job, id) else { return true }
        return links[id]?.access.mayHearWords(roster(of: job), knows: knows(job, id)) ?? false
    }

    /// What may be said of how far a job is held here.
    func tellableVector(of job: JobID, to id: LinkID) -> VersionVector {
        let vector = vector(of: job)
        guard isBarred(from: job, id) else { return vector }
        return VersionVector(vector.entries.filter { authors[$0.replica] == links[id]?.device })
    }

    /// Whether the peer holds of a job that is not open what this device holds, as far as it may be told.
    func isHeldAlike(_ job: JobID, by id: LinkID) -> Bool {
        links[id]?.comparison.isEqual(job) ?? false && !isBarred(from: job, id)
    }

    /// Whether the peer has been on a job: it has written there, or has shown what stands there.
    func knows(_ job: JobID, _ id: LinkID) -> Bool {
        if links[id]?.shown.contains(job) ?? false { return true }
        return links[id].map { hasWritten($0.device, in: job) } ?? false
    }

    // MARK: Words about who is on a job

    /// What a peer has to know before it hears anything else of a job; nothing when it was told, and where nothing was said.
    mutating func assignments(of job: JobID, for id: LinkID) -> [LinkDirective] {
        guard let roster = rosters[job], links[id]?.toldRosters[job] != roster.fingerprint,
            mayHearWords(of: job, id)
        else { return [] }
        links[id]?.toldRosters[job] = roster.fingerprint
        return Message.assignments(of: roster.statements).map { .send($0, on: id) }
    }

    /// It was said who is on these jobs, by a peer or by this laptop's own person.
    ///
    /// - Parameters:
    ///   - changed: the jobs, with all that is known by now.
    ///   - source: the link that has brought it; nil where it was said here.
    package mutating func onAssigned(
        _ changed: [(job: JobID, roster: JobRoster)], from source: LinkID?, now: UInt64
    ) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        for (job, roster) in changed {
            let links = establishedLinks.map { (id: $0, wasBarred: isBarred(from: job, $0)) }
            // What the peers hold is no longer known by one number.
            willChange(job)
            rosters[job] = roster
            for (id, wasBarred) in links {
                let isBarred = isBarred(from: job, id)
                // It has said so itself, as far as it knows: should it know less, its fingerprint tells.
                if id == source, isBarred == wasBarred { continue }
                switch (wasBarred, isBarred) {
                case (true, false): directives += admit(id, to: job)
                case (false, true): directives += dismiss(id, from: job)
                default: directives += assignments(of: job, for: id)
                }
            }
        }
        return directives + fetchMissing(now: now)
    }

    /// This laptop has joined another fleet, and has no connection yet.
    package mutating func forgetAssignments() {
        for job in rosters.keys { fingerprints.changed(job) }
        rosters = [:]
    }

    /// The peer has come onto a job: it is told what this device holds, and asked for what it has itself.
    private mutating func admit(_ id: LinkID, to job: JobID) -> [LinkDirective] {
        close(job, on: id)
        guard let progress = jobs[job], !progress.vector.entries.isEmpty else { return assignments(of: job, for: id) }
        let directives = sendVector(of: job, on: id)
        links[id]?.comparison.hurry(job)
        return directives + continueComparing(on: id)
    }

    /// The peer is not on a job any more: nothing more goes out to it than the word that says so.
    private mutating func dismiss(_ id: LinkID, from job: JobID) -> [LinkDirective] {
        for name in links[id]?.streams.keys.sorted() ?? []
        where name.job == job && !mayTell(name.replica, of: job, to: id) { links[id]?.streams[name] = nil }
        endSearches(of: job, with: id)
        links[id]?.withheld.remove(job)
        // It was told of the job as long as it was on it; of one that is being made there was nothing to tell.
        if let known = links[id]?.jobs[job], !known.peer.entries.isEmpty || !known.announced.entries.isEmpty {
            links[id]?.shown.insert(job)
        }
        close(job, on: id)
        return assignments(of: job, for: id)
    }

    // MARK: Who has been on a job

    /// A peer that is barred from a job says what it holds of it.
    mutating func noteShown(_ entries: [VersionVector.Entry], of job: JobID, on id: LinkID) -> [SearchDirective] {
        guard isBarred(from: job, id) else { return [] }
        let own = vector(of: job)
        if knows(job, id) || entries.contains(where: { $0.head.sequence > 0 && own[$0.replica] == $0.head }) {
            return [SearchDirective](onHoldingShown(job, on: id))
        }
        // Who was away holds what stood here before; what is true of it only the store knows.
        guard
            let earlier = entries.first(where: { $0.head.sequence > 0 && $0.head.sequence < own[$0.replica].sequence })
        else { return [] }
        return [.checkHolding(job, earlier, from: id)]
    }

    /// A peer has shown that it holds some of a job.
    package mutating func onHoldingShown(_ job: JobID, on id: LinkID) -> [LinkDirective] {
        guard links[id]?.isEstablished ?? false, links[id]?.shown.count ?? 0 < MeshLimits.openJobsPerLink else {
            return []
        }
        let wasBarred = isBarred(from: job, id)
        links[id]?.shown.insert(job)
        return wasBarred && !isBarred(from: job, id) ? admit(id, to: job) : assignments(of: job, for: id)
    }
}

extension Message {
    /// As many messages as it takes.
    package static func assignments(of statements: [Assignment]) -> [Message] {
        let size = ProtocolLimits.assignmentsPerMessage
        return stride(from: 0, to: statements.count, by: size).map { start in
            .assignments(Array(statements[start..<min(start + size, statements.count)]))
        }
    }
}
