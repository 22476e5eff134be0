package import CRDT

/// Finding where two copies of one journal part, and settling which branch stays (rule R9).
///
/// Both sides search by bisection, each for itself. Of the two changes that differ first, the one with the smaller
/// hash stays: a choice that every pair of devices makes alike, and which orders all branches. Who holds the other
/// branch first gets the staying one, then swaps the two and re-issues what was on its own, all in one transaction: so
/// each swap moves to a branch that stays against more others, and no device can be talked back.
struct ForkSearch: Sendable {
    let link: LinkID
    /// Up to here the copies are equal; a change ends here.
    var equal: UInt64
    /// From the change that holds this sequence on, they differ.
    var different: UInt64
    var asked: UInt64
    /// A run did not lead to the head that its author has signed: somewhere the copies must differ.
    var isCertain: Bool
    /// What was held here when the search began.
    let held: JournalHead
    var own: ProbeAnswer?
    var peer: ProbeAnswer?
    /// The other branch stays, and its beginning has been asked for.
    var isAdopting = false
    var deadline: UInt64

    /// Whether the last probe was at the first difference, where content decides.
    var isDecisive: Bool { asked == equal + 1 }
}

extension Mesh {
    mutating func searchFork(
        _ name: JournalName, with link: LinkID, isCertain: Bool = false, now: UInt64
    ) -> [SearchDirective] {
        // Never under one's own name: what is written next must not extend a forked journal.
        guard name.replica == replica else { return beginSearch(name, with: link, isCertain: isCertain, now: now) }
        let head = links[link]?.jobs[name.job]?.peer[replica] ?? .empty
        return [.checkOwnJournal(name.job, VersionVector.Entry(replica: replica, head: head), from: link)]
    }

    mutating func beginSearch(
        _ name: JournalName, with link: LinkID, isCertain: Bool, now: UInt64
    ) -> [SearchDirective] {
        // Whoever is not on the job does not hear that there is another copy. Of this store's own journal it is asked (rule R9).
        guard searches[name] == nil, links[link] != nil,
            name.replica == replica || mayTell(name.replica, of: name.job, to: link)
        else { return [] }
        let reach = min(vector(of: name.job)[name.replica].sequence, claim(of: name, by: link))
        guard reach > 0 else { return [] }
        guard searches.values.count(where: { $0.link == link }) < MeshLimits.searchesPerLink else { return [] }
        endFetch(name)
        searches[name] = ForkSearch(
            link: link, equal: 0, different: reach, asked: 0, isCertain: isCertain,
            held: vector(of: name.job)[name.replica], deadline: now + timing.searchStepTimeout)
        return [.send(.forked(job: name.job, replica: name.replica), on: link)] + probe(name, now: now)
    }

    /// A peer says that two copies part. Of this device's own journal it has to show one: what it has said that it holds.
    mutating func onForked(_ name: JournalName, on link: LinkID, now: UInt64) -> [SearchDirective] {
        guard mayTell(name.replica, of: name.job, to: link) else { return [] }
        openIfEqual(name.job, on: link)
        return searchFork(name, with: link, now: now)
    }

    /// The peer is not on the job any more: nothing is asked about others' journals.
    mutating func endSearches(of job: JobID, with id: LinkID) {
        let forbidden = searches.filter { name, search in
            search.link == id && name.job == job && name.replica != replica
                && !mayTell(name.replica, of: job, to: id)
        }
        for name in forbidden.keys.sorted() { endSearch(name) }
    }

    /// A search has ended: the journal may be asked for again.
    mutating func endSearch(_ name: JournalName) {
        searches[name] = nil
        want(name)
    }

    /// Up to what was held before, the copies are equal: so the peer's piece is not what its author has signed.
    mutating func refuseAltered(_ job: JobID, by link: LinkID) -> [SearchDirective] {
        [
            .noteAltered(job, by: link),
            refuse(link, "A piece of a journal does not have the digest that the peer claims."),
        ]
    }

    /// Whether the peer has shown twice in a row what does not fit, although all copies are equal up to there. An honest one that
    /// swaps its branch meanwhile shows another journal the second time, with its vector before it.
    private mutating func isSecondMisfit(_ search: ForkSearch, _ name: JournalName) -> Bool {
        // What this device holds may have changed as well: it got another branch, or the beginning went with its job.
        guard search.isCertain, vector(of: name.job)[name.replica] == search.held else { return false }
        return links[search.link]?.jobs[name.job]?.misfits.updateValue(search.held, forKey: name.replica) == search.held
    }

    private mutating func probe(_ name: JournalName, now: UInt64) -> [SearchDirective] {
        guard var search = searches[name] else { return [] }
        search.asked = max(search.equal + 1, (search.equal + search.different) / 2)
        search.own = nil
        search.peer = nil
        // Each step has to be answered soon: meanwhile nobody else's pieces of this journal are taken.
        search.deadline = now + timing.searchStepTimeout
        searches[name] = search
        return [
            .send(.probe(job: name.job, replica: name.replica, sequence: search.asked), on: search.link),
            .lookUp(name.job, name.replica, sequence: search.asked),
        ]
    }

    /// The answer to a `lookUp`: this side's half of a probe.
    package mutating func onLookedUp(
        _ answer: ProbeAnswer, job: JobID, replica: ReplicaID, now: UInt64
    ) -> [SearchDirective] {
        let name = JournalName(job: job, replica: replica)
        guard searches[name]?.asked == answer.sequence else { return [] }
        searches[name]?.own = answer
        return step(name, now: now)
    }

    mutating func onProbeAnswer(
        _ answer: ProbeAnswer, _ name: JournalName, on link: LinkID, now: UInt64
    ) -> [SearchDirective] {
        guard let search = searches[name], search.link == link, search.asked == answer.sequence else { return [] }
        searches[name]?.peer = answer
        return step(name, now: now)
    }

    private mutating func step(_ name: JournalName, now: UInt64) -> [SearchDirective] {
        guard let search = searches[name], let own = search.own, let peer = search.peer else { return [] }
        guard let ownBoundary = own.boundary, let peerBoundary = peer.boundary else {
            // One side has cut its copy meanwhile: what remains is found anew if it still differs.
            endSearch(name)
            return [SearchDirective](fetchMissing(now: now))
        }
        if ownBoundary == peerBoundary {
            searches[name]?.equal = ownBoundary.sequence
            if ownBoundary.sequence >= search.different {
                endSearch(name)
                if isSecondMisfit(search, name) { return refuseAltered(name.job, by: search.link) }
                return [SearchDirective](fetchMissing(now: now))
            }
            return probe(name, now: now)
        }
        guard search.isDecisive else {
            searches[name]?.different = search.asked
            return probe(name, now: now)
        }
        guard (peer.changeHash, peerBoundary.sequence) < (own.changeHash, ownBoundary.sequence) else {
            endSearch(name)
            return searchElsewhere(name, than: search.link, now: now)
        }
        searches[name]?.isAdopting = true
        searches[name]?.deadline = now + timing.fetchTimeout
        return [
            .send(
                .request(
                    job: name.job, replica: name.replica, from: search.equal + 1,
                    credit: UInt32(ProtocolLimits.deltaBytes),
                    graft: false), on: search.link)
        ]
    }

    /// The beginning of the branch that stays has come.
    mutating func onBranch(_ segment: JournalSegment, _ name: JournalName, on link: LinkID) -> MessageDirective? {
        guard let search = searches[name], search.isAdopting, search.link == link, segment.first == search.equal + 1
        else { return nil }
        return .adoptBranch(name.job, segment, after: search.equal, from: link)
    }

    /// The branches are swapped; `reissued` is what was on this store's, now in its own journal. Nil when the branch
    /// could not be adopted: the store failed, or the bytes were no continuation.
    ///
    /// - Parameter order: of the store's transaction that did it.
    package mutating func onBranchAdopted(
        _ head: JournalHead?, job: JobID, replica: ReplicaID, reissued: JournalSegment?, order: UInt64 = 0, now: UInt64
    ) -> [SearchDirective] {
        let name = JournalName(job: job, replica: replica)
        let link = searches[name]?.link
        endSearch(name)
        guard let head else {
            guard let link else { return [] }
            return [refuse(link, "The peer's branch of a forked journal cannot be taken.")]
                + searchElsewhere(name, than: link, now: now)
        }
        jobs[job]?.submitted[replica] = nil
        willChange(job)
        jobs[job]?.swap(replica, to: head, in: order)
        for id in establishedLinks {
            links[id]?.jobs[job]?.announced.set(replica, to: .empty)
            links[id]?.jobs[job]?.sent[replica] = nil
        }
        let resent = resendVector(of: job)
        let spread = reissued.map { onCommitted($0, job: job, now: now) } ?? []
        want(name)
        return [SearchDirective](resent + spread + fetchMissing(now: now))
    }

    mutating func expireSearches(now: UInt64) -> [SearchDirective] {
        var directives: [SearchDirective] = []
        for name in searches.keys.sorted() {
            guard let search = searches[name], search.deadline <= now else { continue }
            endSearch(name)
            // Else it would send the same again, as often as it likes. Who is only slow with a branch, or waits for this
            // device's own disk, is not to blame.
            if search.isCertain, search.own != nil, search.peer == nil, !search.isAdopting {
                directives.append(refuse(search.link, "The peer does not show where its journal differs."))
            }
            directives += searchElsewhere(name, than: search.link, now: now)
        }
        return directives
    }

    /// A search came to nothing: another link may show the same difference, which was left to that search.
    mutating func searchElsewhere(_ name: JournalName, than former: LinkID, now: UInt64) -> [SearchDirective] {
        guard
            let link = establishedLinks.first(where: { id in
                id != former && showsFork(of: name, id) && mayTell(name.replica, of: name.job, to: id)
            })
        else { return [] }
        return searchFork(name, with: link, now: now)
    }

    /// A search that nobody answered in time has ended, and the difference is still there: neither side will speak of it
    /// again by itself. So it is looked for now and then.
    mutating func searchLeftForks(on id: LinkID, now: UInt64) -> [SearchDirective] {
        var directives: [SearchDirective] = []
        for job in links[id]?.jobs.keys.sorted() ?? [] {
            for entry in links[id]?.jobs[job]?.peer.entries ?? [] {
                let name = JournalName(job: job, replica: entry.replica)
                guard searches[name] == nil, showsFork(of: name, id) else { continue }
                directives += searchFork(name, with: id, now: now)
            }
        }
        return directives
    }

    /// Of two lengths the shorter one asks for more, and sees that it does not fit.
    private func showsFork(of name: JournalName, _ link: LinkID) -> Bool {
        guard let own = jobs[name.job]?.vector[name.replica],
            let peer = links[link]?.jobs[name.job]?.peer[name.replica]
        else { return false }
        return peer.contradicts(own)
    }
}
