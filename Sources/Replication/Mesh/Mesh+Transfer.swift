package import CRDT

/// Journals move: pushed along the tree when they are new and small, asked for otherwise.
extension Mesh {
    /// A run of this store's own journal has become durable.
    package mutating func onCommitted(_ segment: JournalSegment, job: JobID, now: UInt64) -> [LinkDirective] {
        guard advance(segment.replica, of: job, to: segment.head) else { return [] }
        return spread(segment, of: job, exceptTo: nil, now: now)
    }

    /// This device holds more of a journal.
    @discardableResult
    mutating func advance(_ replica: ReplicaID, of job: JobID, to head: JournalHead) -> Bool {
        guard head.sequence > vector(of: job)[replica].sequence else { return false }
        willChange(job)
        return jobs[job, default: JobProgress()].vector.advance(replica, to: head)
    }

    mutating func onDelta(
        _ segment: JournalSegment, of job: JobID, pushed: Bool, on link: LinkID, now: UInt64
    ) -> [MessageDirective] {
        let name = JournalName(job: job, replica: segment.replica)
        let own = jobs[job, default: JobProgress()].vector[segment.replica]
        let reach = jobs[job, default: JobProgress()].reach(of: segment.replica)
        openIfEqual(job, on: link)
        if let refusal = learn(about: job, from: link, { $0.advance(segment.replica, to: segment.head) }) {
            return [.link(refusal)]
        }
        // Whatever it claims: no transform is shorter than a byte.
        let count = min(Int(clamping: segment.head.sequence - segment.first + 1), segment.bytes.count)
        links[link]?.received.all += count
        if !pushed, fetches[name]?.link == link { fetches[name]?.deadline = now + timing.fetchTimeout }
        if searches[name] != nil { return onBranch(segment, name, on: link).map { [$0] } ?? [] }
        // What it was asked to show may end before what is here, and have another content all the same.
        let isShown = segment.replica == replica && links[link]?.askedForProof.remove(job) != nil
        if isShown || showsOtherOwn(segment, of: job) {
            return [.search(.checkProof(job, segment, from: link))]
        }
        if segment.head.sequence <= reach {
            links[link]?.received.duplicates += count
            if segment.head.contradicts(own) { return [MessageDirective](searchFork(name, with: link, now: now)) }
            guard pushed else {
                // Of another's journal that a peer off the job brings the beginning comes, too.
                guard !mayTell(name.replica, of: job, to: link) else { return [] }
                return fetches[name]?.link == link
                    ? [MessageDirective](continueFetch(name, after: segment, now: now)) : []
            }
            // It came another way first: this link is not needed in the tree.
            links[link]?.jobs[job]?.isLazy = true
            return [.send(.prune(job: job), on: link)]
        }
        guard segment.first <= reach + 1, storeRetryDue == nil else {
            return [MessageDirective](fetchMissing(now: now, preferring: link, of: job))
        }
        grafts.remove(name)
        jobs[job, default: JobProgress()].submitted[segment.replica] = segment.head.sequence
        return [.persist(job, segment, from: link)]
    }

    /// Tells what became of a run that `persist` named. A stored one is relayed and acknowledged (rule R4); when the
    /// store has failed, what is missing is asked for again after `storeRetryDelay`.
    ///
    /// - Parameters:
    ///   - link: who brought it; it may be closed by now.
    ///   - news: the part of a stored run that was not held before: nobody has looked at the rest. Nil for all of it.
    package mutating func onPersisted(
        _ segment: JournalSegment, job: JobID, from link: LinkID, result: IngestResult, news: JournalSegment? = nil,
        now: UInt64
    ) -> [UpkeepDirective] {
        let name = JournalName(job: job, replica: segment.replica)
        if jobs[job]?.submitted[segment.replica] == segment.head.sequence {
            jobs[job]?.submitted[segment.replica] = nil
        }
        defer { forgetIfEmpty(job) }
        switch result {
        case .stored:
            advance(segment.replica, of: job, to: segment.head)
            return [UpkeepDirective](
                spread(news ?? segment, of: job, exceptTo: link, now: now)
                    + continueFetch(name, after: segment, now: now))
        // The store holds another head than the mesh thought.
        case .duplicate(let head), .gap(let head):
            jobs[job]?.submitted[segment.replica] = nil
            // Another source was quicker (the server): whoever is told of that next finds nothing new in it.
            if advance(segment.replica, of: job, to: head) { announceLater(name, now: now) }
            endFetch(name)
            return [UpkeepDirective](fetchMissing(now: now, preferring: link))
        case .forked(let held):
            jobs[job]?.submitted[segment.replica] = nil
            endFetch(name)
            // What does not lead on from nothing was altered: nobody else's branch is here.
            if held == .empty { return [UpkeepDirective](refuseAltered(job, by: link)) }
            // Where they part whoever is not on the job is not asked: it would hear that there is another copy.
            guard name.replica == replica || mayTell(name.replica, of: job, to: link) else {
                return [UpkeepDirective](leave(name, with: link, now: now))
            }
            return [UpkeepDirective](searchFork(name, with: link, isCertain: true, now: now))
        case .ownFuture(let former):
            endFetch(name)
            guard former == replica else { return [UpkeepDirective](fetchMissing(now: now, preferring: link)) }
            return [UpkeepDirective](renew(Self.ownFutureReason, proof: link, now: now))
        case .unvouched:
            return [UpkeepDirective](leave(name, with: link, now: now))
        case .forged(let reason):
            jobs[job]?.submitted[segment.replica] = nil
            endFetch(name)
            return [refuse(link, reason)]
        case .malformed(let reason):
            jobs[job]?.submitted[segment.replica] = nil
            endFetch(name)
            return [refuse(link, "A piece of a journal is malformed: \(reason)")]
        case .failed:
            jobs[job]?.submitted[segment.replica] = nil
            endFetch(name)
            storeRetryDue = now + timing.storeRetryDelay
            return []
        }
    }

    /// As if the peer did not hold a journal, until it says so again: the rest of what it has is welcome.
    private mutating func leave(_ name: JournalName, with link: LinkID, now: UInt64) -> [LinkDirective] {
        jobs[name.job]?.submitted[name.replica] = nil
        let held = vector(of: name.job)[name.replica]
        _ = learn(about: name.job, from: link) { $0.set(name.replica, to: held) }
        endFetch(name)
        return fetchMissing(now: now, preferring: link)
    }

    /// Of what could not be stored nothing stays.
    private mutating func forgetIfEmpty(_ job: JobID) {
        if let progress = jobs[job], progress.vector.entries.isEmpty, progress.submitted.isEmpty { jobs[job] = nil }
    }

    private static let ownFutureReason = "A peer holds a later part of this store's journal: the store was set back."

    /// The store does not hold what a peer says that it holds of the store's own journal. A word is no proof: the peer is asked
    /// for the end of what it holds, which only this store's key can have signed.
    package mutating func onOwnClaim(
        _ claimed: VersionVector.Entry, of job: JobID, from link: LinkID, now: UInt64
    ) -> [LinkDirective] {
        guard claimed.replica == replica, claimed.head.sequence > 0, links[link]?.isEstablished ?? false,
            links[link]?.askedForProof.count ?? 0 < MeshLimits.proofsPerLink,
            links[link]?.askedForProof.insert(job).inserted ?? false
        else { return [] }
        return [
            .send(
                .request(
                    job: job, replica: replica, from: claimed.head.sequence,
                    credit: UInt32(ProtocolLimits.deltaBytes), graft: false), on: link)
        ]
    }

    /// A peer has shown what this store has signed, and does not hold.
    ///
    /// A store that has got another name since it was asked keeps that.
    package mutating func onOwnFuture(
        _ claimed: VersionVector.Entry, of job: JobID, from link: LinkID, now: UInt64
    ) -> [UpkeepDirective] {
        guard claimed.replica == replica else { return [] }
        guard claimed.head.sequence <= vector(of: job)[replica].sequence else {
            return [UpkeepDirective](renew(Self.ownFutureReason, proof: link, now: now))
        }
        var directives = [UpkeepDirective](
            renew("This store's journal has another content elsewhere.", proof: link, now: now))
        // Who only claims it has to wait: the journal that is being written is not searched.
        guard isRenewing else { return directives }
        directives += beginSearch(
            JournalName(job: job, replica: replica), with: link, isCertain: false, now: now)
        return directives
    }

    /// - Parameter proof: the link whose peer shows that the store has to become a new replica (rule R9).
    mutating func renew(_ reason: String, proof: LinkID, now: UInt64) -> RenewalDirective? {
        renewalLimit.owe(reason)
        guard !isRenewing else { return nil }
        guard renewalLimit.allows(now: now) else { return .proofIgnored(proof, reason: reason) }
        isRenewing = true
        return .renewReplica(replica, reason: reason)
    }

    /// Pushes a durable run to the peers in the tree that lack it, and tells them where it is too large to push.
    private mutating func spread(
        _ segment: JournalSegment, of job: JobID, exceptTo source: LinkID?, now: UInt64
    ) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        for id in establishedLinks where id != source {
            links[id]?.jobs[job]?.quietRounds = 0
            // Of a job that has yet to be compared the peer hears in a moment.
            guard isEager(id, job: job), !isCongested(id), links[id]?.jobs[job] != nil,
                mayTell(segment.replica, of: job, to: id),
                links[id]?.streams[JournalName(job: job, replica: segment.replica)] == nil
            else { continue }
            let reach = links[id]?.jobs[job]?.reach(of: segment.replica) ?? 0
            guard reach < segment.head.sequence else { continue }
            if segment.bytes.count <= MeshLimits.pushBytes {
                // What finds no room, and what follows it, is announced with the next acknowledgement.
                guard segment.first <= reach + 1, links[id]?.jobs[job]?.hasRoomToPush() ?? false else { continue }
                links[id]?.jobs[job]?.sent[segment.replica] = segment.head.sequence
                links[id]?.jobs[job]?.announced.advance(segment.replica, to: segment.head)
                awaitAnswer(from: id, now: now)
                directives += assignments(of: job, for: id)
                directives.append(.send(.delta(job: job, segment, pushed: true), on: id))
            } else {
                directives += tell(job, [segment.replica], on: id)
            }
        }
        announceLater(JournalName(job: job, replica: segment.replica), now: now)
        return directives
    }
}
