package import CRDT

/// Journals move: pushed along the tree when they are new and small, asked for otherwise.
extension Mesh {
    /// A run of this store's own journal has become durable.
    package mutating func onCommitted(_ segment: JournalSegment, job: JobID, now: UInt64) -> [Directive] {
        guard jobs[job, default: JobProgress()].vector.advance(segment.replica, to: segment.head) else { return [] }
        return spread(segment, of: job, exceptTo: nil, now: now)
    }

    mutating func onDelta(
        _ segment: JournalSegment, of job: JobID, pushed: Bool, on link: LinkID, now: UInt64
    ) -> [Directive] {
        let name = JournalName(job: job, replica: segment.replica)
        let own = jobs[job, default: JobProgress()].vector[segment.replica]
        let reach = jobs[job, default: JobProgress()].reach(of: segment.replica)
        if let refusal = learn(about: job, from: link, { $0.advance(segment.replica, to: segment.head) }) {
            return [refusal]
        }
        // Whatever it claims: no transform is shorter than a byte.
        let count = min(Int(clamping: segment.head.sequence - segment.first + 1), segment.bytes.count)
        links[link]?.received.all += count
        if !pushed, fetches[name]?.link == link { fetches[name]?.deadline = now + timing.fetchTimeout }
        if searches[name] != nil { return onBranch(segment, name, on: link) }
        if segment.replica == replica, segment.head.sequence > own.sequence {
            return renew("A peer sent a later part of this store's journal: the store was set back.")
        }
        if segment.head.sequence <= reach {
            links[link]?.received.duplicates += count
            var directives: [Directive] = []
            if segment.head.sequence == own.sequence, segment.head.digest != own.digest {
                directives += searchFork(name, with: link, now: now)
            } else if pushed {
                // It came another way first: this link is not needed in the tree.
                links[link]?.jobs[job]?.isLazy = true
                directives.append(.send(.prune(job: job), on: link))
            }
            return directives
        }
        guard segment.first <= reach + 1, storeRetryDue == nil else {
            return fetchMissing(now: now, preferring: link, of: job)
        }
        if pushed { links[link]?.jobs[job]?.isLazy = false }
        grafts[name] = nil
        jobs[job, default: JobProgress()].submitted[segment.replica] = segment.head.sequence
        return [.persist(job, segment, from: link)]
    }

    package mutating func onPersisted(
        _ segment: JournalSegment, job: JobID, from link: LinkID, outcome: PersistOutcome, now: UInt64
    ) -> [Directive] {
        let name = JournalName(job: job, replica: segment.replica)
        if jobs[job]?.submitted[segment.replica] == segment.head.sequence {
            jobs[job]?.submitted[segment.replica] = nil
        }
        switch outcome {
        case .stored:
            jobs[job, default: JobProgress()].vector.advance(segment.replica, to: segment.head)
            return spread(segment, of: job, exceptTo: link, now: now) + continueFetch(name, after: segment, now: now)
        case .outdated(let head):
            jobs[job]?.submitted[segment.replica] = nil
            jobs[job, default: JobProgress()].vector.advance(segment.replica, to: head)
            fetches[name] = nil
            return fetchMissing(now: now, preferring: link)
        case .forked:
            jobs[job]?.submitted[segment.replica] = nil
            fetches[name] = nil
            return searchFork(name, with: link, isCertain: true, now: now)
        case .ownFuture:
            fetches[name] = nil
            return renew("A peer sent a later part of this store's journal: the store was set back.")
        case .malformed(let reason):
            jobs[job]?.submitted[segment.replica] = nil
            fetches[name] = nil
            return [refuse(link, "A piece of a journal is malformed: \(reason)")]
        case .failed:
            jobs[job]?.submitted[segment.replica] = nil
            fetches[name] = nil
            storeRetryDue = now + timing.storeRetryDelay
            return []
        }
    }

    /// Pushes a durable run to the peers in the tree that lack it, and tells them where it is too large to push.
    private mutating func spread(
        _ segment: JournalSegment, of job: JobID, exceptTo source: LinkID?, now: UInt64
    ) -> [Directive] {
        var directives: [Directive] = []
        for id in establishedLinks where id != source {
            guard isEager(id, job: job), !isCongested(id),
                links[id]?.streams[JournalName(job: job, replica: segment.replica)] == nil
            else { continue }
            let reach = links[id]?.jobs[job]?.reach(of: segment.replica) ?? 0
            guard reach < segment.head.sequence else { continue }
            if segment.bytes.count <= MeshLimits.pushBytes, segment.first <= reach + 1 {
                links[id]?.jobs[job, default: LinkJob()].sent[segment.replica] = segment.head.sequence
                links[id]?.jobs[job]?.told[segment.replica] = segment.head.sequence
                directives.append(.send(.delta(job: job, segment, pushed: true), on: id))
            } else {
                directives += tell(job, [segment.replica], on: id)
            }
        }
        announceLater(JournalName(job: job, replica: segment.replica), now: now)
        return directives
    }

    // MARK: Asking

    /// Asks for everything that some peer has and this device lacks, one peer per journal.
    ///
    /// - Parameter job: the only job of which something new was heard; nil looks at all of them.
    mutating func fetchMissing(now: UInt64, preferring preferred: LinkID? = nil, of job: JobID? = nil) -> [Directive] {
        guard storeRetryDue == nil, !isRenewing else { return [] }
        var directives: [Directive] = []
        var order = establishedLinks
        if let preferred, let index = order.firstIndex(of: preferred) { order.swapAt(0, index) }
        for id in order {
            guard let link = links[id] else { continue }
            var running = fetches.values.count { $0.link == id }
            guard running < MeshLimits.fetchesPerLink else { continue }
            for job in job.map({ [$0] }) ?? link.jobs.keys.sorted() where running < MeshLimits.fetchesPerLink {
                for entry in link.jobs[job]?.peer.entries ?? [] where running < MeshLimits.fetchesPerLink {
                    let name = JournalName(job: job, replica: entry.replica)
                    guard entry.head.sequence > jobs[job, default: JobProgress()].reach(of: entry.replica),
                        fetches[name] == nil, grafts[name] == nil, searches[name] == nil
                    else { continue }
                    directives.append(fetch(name, from: id, graft: false, now: now))
                    running += 1
                }
            }
        }
        return directives
    }

    private mutating func fetch(_ name: JournalName, from link: LinkID, graft: Bool, now: UInt64) -> Directive {
        let reach = jobs[name.job, default: JobProgress()].reach(of: name.replica)
        fetches[name] = Fetch(link: link, deadline: now + timing.fetchTimeout, reach: reach)
        let next = reach + 1
        return .send(
            .request(
                job: name.job, replica: name.replica, from: next, credit: UInt32(MeshLimits.fetchWindowBytes),
                graft: graft), on: link)
    }

    private mutating func continueFetch(_ name: JournalName, after segment: JournalSegment, now: UInt64) -> [Directive]
    {
        guard let fetch = fetches[name] else { return [] }
        let claimed = links[fetch.link]?.jobs[name.job]?.peer[name.replica].sequence ?? 0
        if jobs[name.job, default: JobProgress()].reach(of: name.replica) >= claimed {
            fetches[name] = nil
            return fetchMissing(now: now)
        }
        let bytes = UInt32(clamping: segment.bytes.count)
        return [.send(.credit(job: name.job, replica: name.replica, bytes: bytes), on: fetch.link)]
    }

    mutating func expireFetches(now: UInt64) -> [Directive] {
        var directives: [Directive] = []
        for name in fetches.keys.sorted() {
            guard let expired = fetches[name], expired.deadline <= now else { continue }
            fetches[name] = nil
            let reach = jobs[name.job, default: JobProgress()].reach(of: name.replica)
            let others = establishedLinks.filter { id in
                id != expired.link && links[id]?.jobs[name.job]?.peer[name.replica].sequence ?? 0 > reach
            }
            if let other = others.first {
                directives.append(fetch(name, from: other, graft: false, now: now))
            } else if expired.reach < reach || !expired.isRepeated {
                // Nobody else has it: the same peer is asked once more, and again as long as something comes.
                directives.append(fetch(name, from: expired.link, graft: false, now: now))
                fetches[name]?.isRepeated = true
            } else {
                directives.append(refuse(expired.link, "The peer does not send what it says it has."))
            }
        }
        return directives
    }

    /// The tree has not brought what was announced: ask who announced it, and take that link into the tree.
    mutating func graftOverdue(now: UInt64) -> [Directive] {
        var directives: [Directive] = []
        for name in grafts.keys.sorted() {
            guard let graft = grafts[name], graft.due <= now else { continue }
            grafts[name] = nil
            let claimed = links[graft.link]?.jobs[name.job]?.peer[name.replica].sequence ?? 0
            guard claimed > jobs[name.job, default: JobProgress()].reach(of: name.replica), fetches[name] == nil,
                !isRenewing, storeRetryDue == nil
            else { continue }
            links[graft.link]?.jobs[name.job]?.isLazy = false
            directives.append(fetch(name, from: graft.link, graft: true, now: now))
        }
        return directives
    }

    // MARK: Answering

    mutating func onRequest(_ name: JournalName, from: UInt64, credit: Int, on link: LinkID) -> [Directive] {
        let running = links[link]?.streams[name]
        guard running != nil || links[link]?.streams.count ?? 0 < MeshLimits.streamsPerLink else {
            return [refuse(link, "The peer asks for too much at once.")]
        }
        let bounded = min(credit, 2 * MeshLimits.fetchWindowBytes)
        links[link]?.streams[name] = OutgoingStream(
            next: max(from, 1), credit: bounded, isLoading: running?.isLoading ?? false)
        return pump(name, on: link)
    }

    mutating func pumpStreams(of link: LinkID) -> [Directive] {
        (links[link]?.streams.keys.sorted() ?? []).flatMap { pump($0, on: link) }
    }

    mutating func pump(_ name: JournalName, on link: LinkID) -> [Directive] {
        guard let stream = links[link]?.streams[name], !stream.isLoading, !isCongested(link), stream.credit > 0
        else { return [] }
        guard stream.next <= jobs[name.job, default: JobProgress()].vector[name.replica].sequence else {
            links[link]?.streams[name] = nil
            return []
        }
        links[link]?.streams[name]?.isLoading = true
        return [
            .load(name.job, name.replica, from: stream.next, maximumBytes: ProtocolLimits.deltaBytes, for: link)
        ]
    }

    /// A run that a stream waits for was read; nil when it could not be.
    package mutating func onLoaded(
        _ segment: JournalSegment?, job: JobID, replica: ReplicaID, asked: UInt64, for link: LinkID, now: UInt64
    ) -> [Directive] {
        let name = JournalName(job: job, replica: replica)
        guard let stream = links[link]?.streams[name] else { return [] }
        links[link]?.streams[name]?.isLoading = false
        // The peer has asked for another place in the meantime.
        guard stream.next == asked else { return pump(name, on: link) }
        guard let segment else {
            links[link]?.streams[name] = nil
            return []
        }
        links[link]?.streams[name]?.next = segment.head.sequence + 1
        links[link]?.streams[name]?.credit = stream.credit - segment.bytes.count
        links[link]?.jobs[job, default: LinkJob()].sent[replica] = segment.head.sequence
        return [.send(.delta(job: job, segment, pushed: false), on: link)] + pump(name, on: link)
    }
}
