package import CRDT

/// Jobs end: whoever knows of it tells with its vector, and nobody asks for what has gone (rule R10).
extension Mesh {
    /// A peer's vector came with the end of its job.
    mutating func onEnd(
        _ end: ToldEnd?, _ vector: VersionVector, of job: JobID, on link: LinkID, now: UInt64
    ) -> [MessageDirective] {
        let judged = end.flatMap { end in
            links[link].map { verdict(on: end, of: job, by: $0.access, isBarred: isBarred(from: job, link)) }
        }
        guard let end, let judged, judged != .noNews else {
            let holdings = JobHoldings(vector: vector, removal: end?.removal)
            return [MessageDirective](onVector(holdings, of: job, on: link, now: now))
        }
        if judged == .barred { return refuse(end, vector, of: job, on: link, now: now) }
        if judged == .otherWords { return askAgain(end, vector, of: job, on: link, now: now) }
        // The vector is asked for again as soon as the job has ended here; until then nothing of it is compared.
        close(job, on: link)
        links[link]?.comparison.askedJobs.insert(job)
        return [.takeRemoval(job, end.removal, from: link)]
    }

    /// A laptop that is not on a job says that it has ended. That is told once: it may say so without end.
    private mutating func refuse(
        _ end: ToldEnd, _ vector: VersionVector, of job: JobID, on link: LinkID, now: UInt64
    ) -> [MessageDirective] {
        let hasRoom = links[link]?.refusedEnds.count ?? .max < MeshLimits.openJobsPerLink
        let isNew = hasRoom && links[link]?.refusedEnds.insert(job).inserted ?? false
        let left = beyond(end.removal, vector, of: job)
        return (isNew ? [.noteRefusedEnd(job, from: link)] : [])
            + [MessageDirective](onVector(left, of: job, on: link, now: now))
    }

    /// Who does not know yet that it is not on the job, or that whoever has told it is not, hears that first, and then says how it stands.
    private mutating func askAgain(
        _ end: ToldEnd, _ vector: VersionVector, of job: JobID, on link: LinkID, now: UInt64
    ) -> [MessageDirective] {
        let words = assignments(of: job, for: link)
        var directives = words.map { MessageDirective.link($0) }
        let left = beyond(end.removal, vector, of: job)
        directives += [MessageDirective](onVector(left, of: job, on: link, now: now))
        guard !words.isEmpty else {
            // It knows them already, or is about to: asked at once it could answer the same without end.
            links[link]?.comparison.wait(job)
            return directives
        }
        links[link]?.comparison.hurry(job)
        return directives + continueComparing(on: link).map { .link($0) }
    }

    /// Of what a peer holds that says in vain that a job has ended: without what has gone there, and cannot be had from it.
    private func beyond(_ removal: JobRemoval, _ vector: VersionVector, of job: JobID) -> JobHoldings {
        let own = self.vector(of: job)
        return JobHoldings(
            vector: VersionVector(
                vector.entries.filter { entry in
                    entry.replica == replica || own[entry.replica].sequence >= removal.heads[entry.replica].sequence
                }))
    }

    /// A removal that a peer told of could not be taken: the job is compared with that peer again in the next round.
    package mutating func onRemovalFailed(_ job: JobID, from link: LinkID) {
        links[link]?.comparison.askedJobs.remove(job)
        links[link]?.comparison.wait(job)
    }

    /// The removal that a peer told of knows this store's own journal as it is not.
    ///
    /// - Parameter name: the store's when the removal was compared.
    package mutating func onOwnFutureRemoved(
        _ link: LinkID, of name: ReplicaID, now: UInt64
    ) -> RenewalDirective? {
        guard name == replica else { return nil }
        return renew("A peer's removal of a job knows a later part of this store's journal.", proof: link, now: now)
    }

    /// A job has ended here, by a person, a peer or the server. Everybody is told, and journals are compared anew.
    ///
    /// - Parameters:
    ///   - removal: what all its removers held.
    ///   - vector: how far this device held its journals when the job ended.
    ///   - replaced: journals of which it held another branch.
    ///   - order: of the store's transaction in which that was so.
    package mutating func onJobRemoved(
        _ removal: JobRemoval, of job: JobID, vector: VersionVector, replaced: Set<ReplicaID>, order: UInt64,
        now: UInt64
    ) -> [LinkDirective] {
        fingerprints.changed(job)
        jobs[job, default: JobProgress()].end(vector, replaced: replaced, in: order)
        jobs[job, default: JobProgress()].removal = removal
        jobs[job]?.submitted = [:]
        for name in fetches.keys.sorted() where name.job == job { endFetch(name) }
        grafts.remove(of: job)
        for name in searches.keys.sorted() where name.job == job { searches[name] = nil }
        var directives = resendVector(of: job)
        for id in establishedLinks {
            // What the peer holds of it is asked for anew, where it may know that there is such a job, or has said so.
            let isMentioned = links[id]?.jobs[job] != nil || links[id]?.comparison.askedJobs.contains(job) ?? false
            close(job, on: id)
            links[id]?.comparison.askedJobs.remove(job)
            if isMentioned || !isBarred(from: job, id) {
                links[id]?.comparison.hurry(job)
                directives += continueComparing(on: id)
            }
            for name in links[id]?.streams.keys.sorted() ?? [] where name.job == job { links[id]?.streams[name] = nil }
        }
        return directives + fetchMissing(now: now)
    }

    /// What the removers of a job held; nil while it lives.
    package func removal(of job: JobID) -> JobRemoval? { jobs[job]?.removal }
}
