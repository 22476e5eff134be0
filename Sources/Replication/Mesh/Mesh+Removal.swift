package import CRDT

/// Jobs end: whoever knows of it tells with its vector, and nobody asks for what has gone (rule R10).
extension Mesh {
    /// A peer's vector came with a removal.
    ///
    /// - Returns: nil when it tells nothing new, and the vector counts as any other.
    mutating func onRemoval(_ removal: JobRemoval?, of job: JobID, on link: LinkID) -> MessageDirective? {
        guard let removal, links[link]?.access.mayWrite ?? false, !(jobs[job]?.removal?.covers(removal) ?? false) else {
            return nil
        }
        // The vector is asked for again as soon as the job has ended here; until then nothing of it is compared.
        close(job, on: link)
        links[link]?.comparison.askedJobs.insert(job)
        return .takeRemoval(job, removal, from: link)
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
