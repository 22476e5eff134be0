import CRDT

/// Who holds what: vectors when a link is new, then acknowledgements and announcements.
extension Mesh {
    mutating func onSummaries(_ summaries: [JobSummary], on link: LinkID, now: UInt64) -> [Directive] {
        var directives: [Directive] = []
        for summary in summaries {
            guard let count = links[link]?.jobs.count, count < MeshLimits.jobsPerLink else {
                return [refuse(link, "The peer holds too many jobs.")]
            }
            let own = jobs[summary.job, default: JobProgress()].vector
            if own.fingerprint == summary.fingerprint {
                links[link]?.jobs[summary.job, default: LinkJob()].peer = own
                for entry in own.entries {
                    links[link]?.jobs[summary.job]?.told[entry.replica] = entry.head.sequence
                }
                links[link]?.jobs[summary.job]?.vectorWasSent = true
            } else {
                directives += sendVector(of: summary.job, on: link)
            }
        }
        return directives
    }

    mutating func onVector(_ vector: VersionVector, of job: JobID, on link: LinkID, now: UInt64) -> [Directive] {
        var directives: [Directive] = []
        if !(links[link]?.jobs[job]?.vectorWasSent ?? false) { directives += sendVector(of: job, on: link) }
        // A whole vector also takes back what a forked journal had claimed before.
        if let refusal = learn(about: job, from: link, { $0 = vector }) { return [refusal] }
        links[link]?.jobs[job]?.sent = [:]
        directives += compare(vector.entries, of: job, with: link, now: now)
        return directives + fetchMissing(now: now, preferring: link, of: job)
    }

    mutating func onHave(
        _ entries: [VersionVector.Entry], of job: JobID, on link: LinkID, now: UInt64
    ) -> [Directive] {
        let refusal = learn(about: job, from: link) { peer in
            for entry in entries { peer.advance(entry.replica, to: entry.head) }
        }
        if let refusal { return [refusal] }
        let directives = compare(entries, of: job, with: link, now: now)
        guard !isEager(link, job: job) else {
            // An eager peer pushes what it can: what it only announces has to be fetched.
            return directives + fetchMissing(now: now, preferring: link, of: job)
        }
        for entry in entries where entry.head.sequence > jobs[job, default: JobProgress()].reach(of: entry.replica) {
            let name = JournalName(job: job, replica: entry.replica)
            if grafts[name] == nil, fetches[name] == nil {
                grafts[name] = Graft(link: link, due: now + timing.graftDelay)
            }
        }
        return directives
    }

    /// Notes what a peer claims to hold, within bounds: it must not fill this device's memory with claims.
    ///
    /// - Returns: the refusal of a peer that claims too much.
    mutating func learn(
        about job: JobID, from id: LinkID, _ change: (inout VersionVector) -> Void
    ) -> Directive? {
        // No copy of the link may live here, or each claim would copy all that is known of the peer.
        guard let jobCount = links[id]?.jobs.count else { return nil }
        if jobCount >= MeshLimits.jobsPerLink, links[id]?.jobs[job] == nil {
            return refuse(id, "The peer holds too many jobs.")
        }
        let before = links[id]?.jobs[job]?.peer.entries.count ?? 0
        links[id]?.jobs[job, default: LinkJob()].learn(change)
        let count = links[id]?.jobs[job]?.peer.entries.count ?? 0
        links[id]?.entryCount += count - before
        guard count <= ProtocolLimits.entriesPerVector, links[id]?.entryCount ?? 0 <= MeshLimits.entriesPerLink else {
            return refuse(id, "The peer holds too many journals.")
        }
        return nil
    }

    /// Looks for proof that a journal was forked, or that this store was set back (rule R9).
    private mutating func compare(
        _ entries: [VersionVector.Entry], of job: JobID, with link: LinkID, now: UInt64
    ) -> [Directive] {
        var directives: [Directive] = []
        for entry in entries {
            let own = jobs[job, default: JobProgress()].vector[entry.replica]
            if entry.replica == replica, entry.head.sequence > own.sequence {
                directives += renew("A peer holds a later part of this store's journal: the store was set back.")
            } else if entry.head.sequence == own.sequence, entry.head.digest != own.digest {
                directives += searchFork(JournalName(job: job, replica: entry.replica), with: link, now: now)
            }
        }
        return directives
    }

    private mutating func sendVector(of job: JobID, on link: LinkID) -> [Directive] {
        let vector = jobs[job, default: JobProgress()].vector
        links[link]?.jobs[job, default: LinkJob()].vectorWasSent = true
        for entry in vector.entries { links[link]?.jobs[job]?.told[entry.replica] = entry.head.sequence }
        return [.send(.vector(job: job, vector), on: link)]
    }

    /// Sends this device's vector of a job again to everybody, after a journal of it was cut.
    mutating func resendVector(of job: JobID) -> [Directive] {
        establishedLinks.flatMap { sendVector(of: job, on: $0) }
    }

    /// A journal has grown: everybody is told in due time.
    mutating func announceLater(_ name: JournalName, now: UInt64) {
        jobs[name.job]?.unacknowledged.insert(name.replica)
        jobs[name.job]?.unannounced.insert(name.replica)
        if acknowledgementsDue == nil { acknowledgementsDue = now + timing.acknowledgementDelay }
        if announcementsDue == nil { announcementsDue = now + timing.announcementDelay }
    }

    /// Tells what has grown to those who do not know it yet: at first the peers in the tree, later everybody.
    ///
    /// Everybody, because a link may have joined the tree since the change was spread: too late to be pushed it, and too late
    /// for the first round.
    mutating func tellAdvances(onLazyLinks lazy: Bool) -> [Directive] {
        var directives: [Directive] = []
        let grownJobs = jobs.filter { !(lazy ? $0.value.unannounced : $0.value.unacknowledged).isEmpty }
        for job in grownJobs.keys.sorted() {
            guard let progress = grownJobs[job] else { continue }
            let grown = lazy ? progress.unannounced : progress.unacknowledged
            for id in establishedLinks {
                guard lazy || isEager(id, job: job), !isCongested(id) else { continue }
                directives += tell(job, grown.sorted(), on: id)
            }
            if lazy { jobs[job]?.unannounced = [] } else { jobs[job]?.unacknowledged = [] }
        }
        return directives
    }

    /// Tells a peer everything that it was not told while it did not read.
    mutating func tellAll(on link: LinkID) -> [Directive] {
        jobs.keys.sorted().flatMap { job in
            tell(job, jobs[job, default: JobProgress()].vector.entries.map(\.replica), on: link)
        }
    }

    mutating func tell(_ job: JobID, _ replicas: [ReplicaID], on link: LinkID) -> [Directive] {
        let vector = jobs[job, default: JobProgress()].vector
        var entries: [VersionVector.Entry] = []
        for replica in replicas {
            let head = vector[replica]
            guard head.sequence > links[link]?.jobs[job]?.told[replica] ?? 0 else { continue }
            links[link]?.jobs[job, default: LinkJob()].told[replica] = head.sequence
            entries.append(VersionVector.Entry(replica: replica, head: head))
        }
        return entries.isEmpty ? [] : [.send(.have(job: job, entries), on: link)]
    }

    mutating func renew(_ reason: String) -> [Directive] {
        guard !isRenewing else { return [] }
        isRenewing = true
        return [.renewReplica(reason: reason)]
    }
}
