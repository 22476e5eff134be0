package import CRDT

/// Journals that peers have asked for.
extension Mesh {
    mutating func onRequest(_ name: JournalName, from: UInt64, credit: Int, on link: LinkID) -> [StreamDirective] {
        // What went with the job cannot be sent: who asks for it does not know yet that the job is removed.
        let isBarred = !mayTell(name.replica, of: name.job, to: link)
        // Whoever may not know that there is such a job hears nothing, as where there is none.
        if isBarred, tellableVector(of: name.job, to: link).entries.isEmpty { return [] }
        if isBarred || jobs[name.job]?.removal?.covers(max(from, 1), of: name.replica) ?? false {
            return sendVector(of: name.job, on: link).map(StreamDirective.link)
        }
        let running = links[link]?.streams[name]
        guard running != nil || links[link]?.streams.count ?? 0 < MeshLimits.streamsPerLink else {
            return [refuse(link, "The peer asks for too much at once.")]
        }
        let bounded = min(credit, 2 * MeshLimits.fetchWindowBytes)
        links[link]?.streams[name] = OutgoingStream(
            next: max(from, 1), credit: bounded, isLoading: running?.isLoading ?? false)
        return pump(name, on: link)
    }

    /// The peer has room for more.
    mutating func onCredit(_ name: JournalName, bytes: Int, on link: LinkID) -> [StreamDirective] {
        guard let credit = links[link]?.streams[name]?.credit else {
            // The stream had brought all there was. If the journal has grown since, and the peer has heard of it before it
            // had stored the last piece, it waits for the rest to come this way.
            guard let reach = links[link]?.jobs[name.job]?.reach(of: name.replica),
                reach < vector(of: name.job)[name.replica].sequence
            else { return [] }
            // What credit it had is gone with the stream: a row at a time would be a round trip for each.
            return onRequest(name, from: reach + 1, credit: max(bytes, MeshLimits.narrowWindowBytes), on: link)
        }
        links[link]?.streams[name]?.credit = min(credit + bytes, 2 * MeshLimits.fetchWindowBytes)
        return pump(name, on: link)
    }

    mutating func pumpStreams(of link: LinkID) -> [StreamDirective] {
        (links[link]?.streams.keys.sorted() ?? []).flatMap { pump($0, on: link) }
    }

    mutating func pump(_ name: JournalName, on link: LinkID) -> [StreamDirective] {
        guard let stream = links[link]?.streams[name], !stream.isLoading else { return [] }
        // Whatever credit is left: nobody grants more to a stream that has brought all.
        guard stream.next <= vector(of: name.job)[name.replica].sequence else {
            links[link]?.streams[name] = nil
            return []
        }
        guard !isCongested(link), stream.credit > 0 else { return [] }
        links[link]?.streams[name]?.isLoading = true
        let maximumBytes = min(ProtocolLimits.deltaBytes, stream.credit)
        return [.load(name.job, name.replica, from: stream.next, maximumBytes: maximumBytes, for: link)]
    }

    /// A run that a stream waits for was read; nil when it could not be.
    package mutating func onLoaded(
        _ segment: JournalSegment?, job: JobID, replica: ReplicaID, asked: UInt64, for link: LinkID, now: UInt64
    ) -> [StreamDirective] {
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
        links[link]?.jobs[job]?.sent[replica] = segment.head.sequence
        return assignments(of: job, for: link).map(StreamDirective.link)
            + [.send(.delta(job: job, segment, pushed: false), on: link)] + pump(name, on: link)
    }
}
