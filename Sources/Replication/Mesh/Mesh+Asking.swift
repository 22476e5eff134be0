import CRDT

/// Journals that peers hold and this device lacks are asked for, one peer per journal.
///
/// Nothing here looks at all jobs: a job is put on a link's list when its peer is seen to hold more, and again when what
/// was under way for it has ended, so that the work of catching up is linear in what is missing.
extension Mesh {
    /// Asks for what the lists say, as far as there is room for it.
    ///
    /// - Parameter job: the job of which something new was heard.
    mutating func fetchMissing(
        now: UInt64, preferring preferred: LinkID? = nil, of job: JobID? = nil
    ) -> [LinkDirective] {
        if let job { want(job) }
        guard storeRetryDue == nil, !isRenewing else { return [] }
        var order = establishedLinks
        if let preferred, let index = order.firstIndex(of: preferred) { order.swapAt(0, index) }
        return order.flatMap { fillFetches(of: $0, now: now) }
    }

    private mutating func fillFetches(of id: LinkID, now: UInt64) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        while links[id]?.fetchCount ?? .max < MeshLimits.fetchesPerLink, let job = links[id]?.wanted.popFirst() {
            for entry in links[id]?.jobs[job]?.peer.entries ?? [] {
                let name = JournalName(job: job, replica: entry.replica)
                // What is under way puts the job on the list again when it ends, and a new name does so with what this
                // store wrote under its old one.
                guard entry.head.sequence > reach(of: name), fetches[name] == nil, grafts[name] == nil,
                    searches[name] == nil, entry.replica != replica
                else { continue }
                guard links[id]?.fetchCount ?? .max < MeshLimits.fetchesPerLink else {
                    links[id]?.wanted.prepend(job)
                    break
                }
                directives.append(fetch(name, from: id, graft: isEager(id, job: job), now: now))
            }
        }
        return directives
    }

    // MARK: The lists

    /// Puts a job on the list of a link whose peer holds more of it.
    mutating func want(_ job: JobID, from id: LinkID) {
        let isAhead = links[id]?.jobs[job]?.peer.entries.contains { entry in
            entry.head.sequence > jobs[job, default: JobProgress()].reach(of: entry.replica)
        }
        if isAhead ?? false { links[id]?.wanted.append(job) }
    }

    mutating func want(_ job: JobID) {
        for id in establishedLinks { want(job, from: id) }
    }

    /// The same where only one journal is in question.
    mutating func want(_ name: JournalName) {
        let reach = reach(of: name)
        for id in establishedLinks where links[id]?.jobs[name.job]?.peer[name.replica].sequence ?? 0 > reach {
            links[id]?.wanted.append(name.job)
        }
    }

    /// Looks at all open jobs: after something that concerns them all.
    mutating func wantAll() {
        for id in establishedLinks {
            for job in links[id]?.jobs.keys.sorted() ?? [] { want(job, from: id) }
        }
    }

    func reach(of name: JournalName) -> UInt64 {
        jobs[name.job]?.reach(of: name.replica) ?? 0
    }

    /// How far a peer is known to hold a journal.
    func claim(of name: JournalName, by id: LinkID) -> UInt64 {
        links[id]?.jobs[name.job]?.peer[name.replica].sequence ?? 0
    }

    // MARK: One fetch

    private mutating func fetch(
        _ name: JournalName, from link: LinkID, graft: Bool, now: UInt64, isRepeated: Bool = false
    ) -> LinkDirective {
        let reach = reach(of: name)
        let window = window(of: link)
        // Who is not on the job does not hear how far another's journal is held here.
        let fromStart = !mayTell(name.replica, of: name.job, to: link)
        fetches[name] = Fetch(
            link: link, deadline: now + timing.fetchTimeout, reach: reach, window: window, isRepeated: isRepeated)
        links[link]?.fetchCount += 1
        awaitAnswer(from: link, now: now)
        return .send(
            .request(
                job: name.job, replica: name.replica, from: fromStart ? 1 : reach + 1, credit: UInt32(window),
                graft: graft),
            on: link)
    }

    private func window(of link: LinkID) -> Int {
        links[link]?.fetchCount ?? 0 < MeshLimits.wideFetchesPerLink
            ? MeshLimits.fetchWindowBytes : MeshLimits.narrowWindowBytes
    }

    /// A fetch has ended, in whatever way: if something is missing still, it may be asked for again.
    mutating func endFetch(_ name: JournalName) {
        if let fetch = fetches.removeValue(forKey: name) { links[fetch.link]?.fetchCount -= 1 }
        want(name)
    }

    mutating func continueFetch(_ name: JournalName, after segment: JournalSegment, now: UInt64) -> [LinkDirective] {
        guard let fetch = fetches[name] else { return [] }
        if reach(of: name) >= claim(of: name, by: fetch.link) {
            endFetch(name)
            return fetchMissing(now: now)
        }
        var bytes = segment.bytes.count
        // Of few that are left the last ones may go on as fast as they like.
        if links[fetch.link]?.fetchCount ?? .max <= MeshLimits.wideFetchesPerLink {
            bytes += MeshLimits.fetchWindowBytes - fetch.window
            fetches[name]?.window = MeshLimits.fetchWindowBytes
        }
        return [.send(.credit(job: name.job, replica: name.replica, bytes: UInt32(clamping: bytes)), on: fetch.link)]
    }

    mutating func expireFetches(now: UInt64) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        for name in fetches.keys.sorted() {
            guard let expired = fetches[name], expired.deadline <= now else { continue }
            endFetch(name)
            let reach = reach(of: name)
            let others = establishedLinks.filter { $0 != expired.link && claim(of: name, by: $0) > reach }
            if let other = others.first {
                directives.append(fetch(name, from: other, graft: false, now: now))
            } else if claim(of: name, by: expired.link) <= reach {
                // Somebody else has brought it, or it was taken back.
                continue
            } else if expired.reach < reach || !expired.isRepeated {
                // Nobody else has it: the same peer is asked once more, and again as long as something comes.
                directives.append(fetch(name, from: expired.link, graft: false, now: now, isRepeated: true))
            } else {
                directives.append(refuse(expired.link, "The peer does not send what it says it has."))
            }
        }
        return directives
    }

    /// The tree has not brought what was announced: ask who announced it, and take that link into the tree.
    mutating func graftOverdue(now: UInt64) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        for (name, graft) in grafts.removeDue(now: now) {
            guard claim(of: name, by: graft.link) > reach(of: name), fetches[name] == nil, !isRenewing,
                storeRetryDue == nil, links[graft.link]?.fetchCount ?? .max < MeshLimits.fetchesPerLink
            else {
                want(name)
                continue
            }
            links[graft.link]?.jobs[name.job]?.graft()
            directives.append(fetch(name, from: graft.link, graft: true, now: now))
        }
        return directives
    }
}
