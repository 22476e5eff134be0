package import CRDT

/// Finding where two copies of one journal part, and settling which branch stays (rule R9).
///
/// Both sides search by bisection, each for itself. Of the two changes that differ first, the one with the smaller
/// hash stays: a choice that every pair of devices makes alike. Who holds the other branch cuts it and re-issues what
/// was on it.
struct ForkSearch: Sendable {
    let link: LinkID
    /// Up to here the copies are equal; a change ends here.
    var equal: UInt64
    /// From the change that holds this sequence on, they differ.
    var different: UInt64
    var asked: UInt64
    /// A run did not lead to the digest that it claimed: somewhere the copies must differ.
    var isCertain: Bool
    var own: ProbeAnswer?
    var peer: ProbeAnswer?

    /// Whether the last probe was at the first difference, where content decides.
    var isDecisive: Bool { asked == equal + 1 }
}

extension Mesh {
    mutating func searchFork(
        _ name: JournalName, with link: LinkID, isCertain: Bool = false, now: UInt64
    ) -> [Directive] {
        // Never under one's own name: what is written next must not extend a forked journal.
        let renewal = name.replica == replica ? renew("This store's journal has another content elsewhere.") : []
        guard searches[name] == nil, let known = links[link] else { return renewal }
        let reach = min(
            jobs[name.job]?.vector[name.replica].sequence ?? 0, known.jobs[name.job]?.peer[name.replica].sequence ?? 0)
        guard reach > 0 else { return renewal + (isCertain ? [refuse(link, Self.falseDigest)] : []) }
        fetches[name] = nil
        searches[name] = ForkSearch(link: link, equal: 0, different: reach, asked: 0, isCertain: isCertain)
        return renewal + [.send(.forked(job: name.job, replica: name.replica), on: link)] + probe(name)
    }

    private static let falseDigest = "A piece of a journal does not have the digest that the peer claims."

    private mutating func probe(_ name: JournalName) -> [Directive] {
        guard var search = searches[name] else { return [] }
        search.asked = max(search.equal + 1, (search.equal + search.different) / 2)
        search.own = nil
        search.peer = nil
        searches[name] = search
        return [
            .send(.probe(job: name.job, replica: name.replica, sequence: search.asked), on: search.link),
            .lookUp(name.job, name.replica, sequence: search.asked, .search),
        ]
    }

    /// The answer to a `lookUp`.
    package mutating func onLookedUp(
        _ answer: ProbeAnswer, job: JobID, replica: ReplicaID, for lookup: Lookup, now: UInt64
    ) -> [Directive] {
        switch lookup {
        case .answer(let link):
            return links[link] == nil ? [] : [.send(.probeAnswer(job: job, replica: replica, answer), on: link)]
        case .search:
            let name = JournalName(job: job, replica: replica)
            guard searches[name]?.asked == answer.sequence else { return [] }
            searches[name]?.own = answer
            return step(name, now: now)
        }
    }

    mutating func onProbeAnswer(
        _ answer: ProbeAnswer, _ name: JournalName, on link: LinkID, now: UInt64
    ) -> [Directive] {
        guard let search = searches[name], search.link == link, search.asked == answer.sequence else { return [] }
        searches[name]?.peer = answer
        return step(name, now: now)
    }

    private mutating func step(_ name: JournalName, now: UInt64) -> [Directive] {
        guard let search = searches[name], let own = search.own, let peer = search.peer else { return [] }
        guard let ownBoundary = own.boundary, let peerBoundary = peer.boundary else {
            // One side has cut its copy meanwhile: what remains is found anew if it still differs.
            searches[name] = nil
            return fetchMissing(now: now)
        }
        if ownBoundary == peerBoundary {
            searches[name]?.equal = ownBoundary.sequence
            if ownBoundary.sequence >= search.different {
                searches[name] = nil
                if search.isCertain { return [refuse(search.link, Self.falseDigest)] }
                return fetchMissing(now: now)
            }
            return probe(name)
        }
        guard search.isDecisive else {
            searches[name]?.different = search.asked
            return probe(name)
        }
        searches[name] = nil
        guard (peer.changeHash, peerBoundary.sequence) < (own.changeHash, ownBoundary.sequence) else { return [] }
        return [.giveUpBranch(name.job, name.replica, after: search.equal)]
    }

    /// The branch is cut; `reissued` is what was on it, in this store's own journal.
    package mutating func onBranchGivenUp(
        job: JobID, replica: ReplicaID, head: JournalHead, reissued: JournalSegment?, now: UInt64
    ) -> [Directive] {
        jobs[job]?.submitted[replica] = nil
        jobs[job]?.vector.set(replica, to: head)
        for id in establishedLinks {
            links[id]?.jobs[job]?.told[replica] = nil
            links[id]?.jobs[job]?.sent[replica] = nil
        }
        let resent = resendVector(of: job)
        let spread = reissued.map { onCommitted($0, job: job, now: now) } ?? []
        return resent + spread + fetchMissing(now: now)
    }
}
