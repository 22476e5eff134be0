import CRDT

/// Who holds what: vectors where two ends differ, then acknowledgements and announcements.
extension Mesh {
    mutating func onVector(_ holdings: JobHoldings, of job: JobID, on link: LinkID, now: UInt64) -> [SearchDirective] {
        let vector = holdings.vector
        let wasAsked = links[link]?.comparison.askedJobs.remove(job) != nil
        links[link]?.comparison.waitingJobs.remove(job)
        links[link]?.askedForProof.remove(job)
        var directives: [SearchDirective] = []
        if links[link]?.jobs[job] == nil {
            guard wasAsked || hasRoom(on: link) else {
                // Not asked for, and no room: it is asked for when there is some.
                links[link]?.comparison.wait(job)
                return compare(vector.entries, of: job, with: link, now: now)
            }
            open(job, on: link, peer: VersionVector(), announced: VersionVector())
        }
        // A whole vector also takes back what a forked journal had claimed before.
        if let refusal = learn(about: job, from: link, { $0 = vector }) { return [.link(refusal)] }
        links[link]?.jobs[job]?.sent = [:]
        links[link]?.jobs[job]?.misfits = [:]
        links[link]?.jobs[job]?.removal = holdings.removal
        directives += compare(vector.entries, of: job, with: link, now: now)
        directives += noteShown(vector.entries, of: job, on: link)
        directives += fetchMissing(now: now, preferring: link, of: job)
        closeIfEqual(job, on: link)
        directives += continueComparing(on: link)
        return directives
    }

    mutating func onHave(
        _ entries: [VersionVector.Entry], of job: JobID, on link: LinkID, now: UInt64
    ) -> [SearchDirective] {
        guard openIfEqual(job, on: link) else {
            // Of a job that has yet to be compared the peer's vector says this too. What lives is compared first.
            if !(links[link]?.comparison.askedJobs.contains(job) ?? true) {
                links[link]?.comparison.hurry(job)
            }
            var directives = compare(entries, of: job, with: link, now: now)
            directives += continueComparing(on: link)
            return directives
        }
        let refusal = learn(about: job, from: link) { peer in
            for entry in entries { peer.advance(entry.replica, to: entry.head) }
        }
        if let refusal { return [.link(refusal)] }
        var directives = compare(entries, of: job, with: link, now: now)
        directives += makeRoom([job])
        guard !isEager(link, job: job) else {
            // An eager peer pushes what it can: what it only announces has to be fetched.
            directives += fetchMissing(now: now, preferring: link, of: job)
            return directives
        }
        for entry in entries
        where entry.replica != replica
            && entry.head.sequence > jobs[job, default: JobProgress()].reach(of: entry.replica)
        {
            let name = JournalName(job: job, replica: entry.replica)
            guard grafts[name] == nil else { continue }
            grafts.add(name, from: link, due: now + timing.graftDelay)
        }
        return directives
    }

    /// Notes what a peer claims to hold of an open job, within bounds: it must not fill this device's memory with claims.
    ///
    /// - Returns: the refusal of a peer that claims too much.
    mutating func learn(
        about job: JobID, from id: LinkID, _ change: (inout VersionVector) -> Void
    ) -> LinkDirective? {
        // No copy of the link may live here, or each claim would copy all that is known of the peer.
        guard let before = links[id]?.jobs[job]?.peer.entries.count else { return nil }
        links[id]?.jobs[job]?.learn(change)
        let count = links[id]?.jobs[job]?.peer.entries.count ?? 0
        links[id]?.entryCount += count - before
        return count <= ProtocolLimits.entriesPerVector ? nil : refuse(id, "The peer holds too many journals of a job.")
    }

    /// Looks for proof that a journal was forked, or that this store was set back (rule R9).
    private mutating func compare(
        _ entries: [VersionVector.Entry], of job: JobID, with link: LinkID, now: UInt64
    ) -> [SearchDirective] {
        var directives: [SearchDirective] = []
        // Of what a forger says of one journal in one message the store is asked once.
        var claimed: VersionVector.Entry?
        for entry in entries {
            let own = jobs[job, default: JobProgress()].vector[entry.replica]
            let isApart = entry.head.contradicts(own)
            if entry.replica == replica, isApart || entry.head.sequence > own.sequence {
                if entry.head.sequence > claimed?.head.sequence ?? 0 { claimed = entry }
            } else if isApart, mayTell(entry.replica, of: job, to: link) {
                directives += searchFork(JournalName(job: job, replica: entry.replica), with: link, now: now)
            }
        }
        if let claimed { directives.append(.checkOwnJournal(job, claimed, from: link)) }
        return directives
    }

    mutating func sendVector(of job: JobID, on link: LinkID) -> [LinkDirective] {
        let vector = tellableVector(of: job, to: link)
        let removal = isBarred(from: job, link) ? nil : jobs[job]?.removal
        let end = removal.map { ToldEnd($0, knowing: roster(of: job).fingerprint) }
        links[link]?.jobs[job]?.announced = vector
        return assignments(of: job, for: link) + [.send(.vector(job: job, vector, end: end), on: link)]
    }

    /// Sends this device's vector of a job again to everybody, after a journal of it was cut.
    mutating func resendVector(of job: JobID) -> [LinkDirective] {
        establishedLinks.flatMap { id -> [LinkDirective] in
            // Who may not know that there is such a job hears of it only what it has written itself.
            if isBarred(from: job, id), tellableVector(of: job, to: id).entries.isEmpty { return [] }
            return sendVector(of: job, on: id)
        }
    }

    /// A journal has grown: it is announced to everybody in due time.
    mutating func announceLater(_ name: JournalName, now: UInt64) {
        jobs[name.job]?.unacknowledged.insert(name.replica)
        jobs[name.job]?.unannounced.insert(name.replica)
        unacknowledgedJobs.insert(name.job)
        unannouncedJobs.insert(name.job)
        if acknowledgementsDue == nil { acknowledgementsDue = now + timing.acknowledgementDelay }
        if announcementsDue == nil { announcementsDue = now + timing.announcementDelay }
    }

    /// Tells what has grown to those who do not know it yet: at first the peers in the tree, later everybody.
    ///
    /// Everybody, because a link may have joined the tree since the change was spread: too late to be pushed it, and too late
    /// for the first round.
    mutating func tellAdvances(onLazyLinks lazy: Bool) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        let grownJobs = (lazy ? unannouncedJobs : unacknowledgedJobs).sorted()
        if lazy { unannouncedJobs = [] } else { unacknowledgedJobs = [] }
        for job in grownJobs {
            guard let progress = jobs[job] else { continue }
            let grown = (lazy ? progress.unannounced : progress.unacknowledged).sorted()
            for id in establishedLinks where lazy || isEager(id, job: job) {
                if isCongested(id) {
                    links[id]?.withheld.insert(job)
                } else if !lazy || links[id]?.jobs[job] != nil {
                    directives += tell(job, grown, on: id)
                }
            }
            if lazy { jobs[job]?.unannounced = [] } else { jobs[job]?.unacknowledged = [] }
        }
        return lazy ? directives + makeRoom(grownJobs) : directives
    }

    /// Announces to a peer everything that was not announced while it did not read.
    mutating func tellAll(on link: LinkID) -> [LinkDirective] {
        let withheld = links[link]?.withheld.sorted() ?? []
        links[link]?.withheld = []
        return withheld.flatMap { tell($0, vector(of: $0).entries.map(\.replica), on: link) }
    }

    /// Of a job that is not open the peer may hear what it knows: that both hold the same is not announced.
    mutating func tell(_ job: JobID, _ replicas: [ReplicaID], on link: LinkID) -> [LinkDirective] {
        let isOpen = links[link]?.jobs[job] != nil
        guard isOpen || !isHeldAlike(job, by: link) else { return [] }
        let vector = vector(of: job)
        var entries: [VersionVector.Entry] = []
        for replica in replicas where mayTell(replica, of: job, to: link) {
            let head = vector[replica]
            guard head.sequence > links[link]?.jobs[job]?.announced[replica].sequence ?? 0 else { continue }
            links[link]?.jobs[job]?.announced.set(replica, to: head)
            entries.append(VersionVector.Entry(replica: replica, head: head))
        }
        return entries.isEmpty ? [] : assignments(of: job, for: link) + [.send(.have(job: job, entries), on: link)]
    }
}
