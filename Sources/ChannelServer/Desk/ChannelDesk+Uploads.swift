import CRDT
import Logging
import ServerChannel
import Storage

/// Journals that laptops bring, their own and others'.
extension ChannelDesk {
    /// Takes runs in, in their order; when this returns they are durable.
    func upload(_ segments: [JournalSegment], to job: JobID) async throws -> VersionVector {
        guard segments.count <= ChannelLimits.segments else {
            throw ChannelProblem(.tooLarge, "More than \(ChannelLimits.segments) runs at once; send fewer.")
        }
        for segment in segments {
            guard segment.replica != .channel else {
                try await takeBack(segment, into: job)
                continue
            }
            try await take(segment, into: job)
        }
        return try await store.vector(of: job)
    }

    /// What this server had said, and has lost.
    private func takeBack(_ segment: JournalSegment, into job: JobID) async throws {
        guard isRecovering else {
            throw ChannelProblem(.channelUpload, "The channel is the server's own journal; leave it out.")
        }
        switch try await store.takeBack(segment, job: job, now: now.received) {
        case .stored(let head, _):
            logger.notice(
                "words of this server's own came back",
                metadata: ["job": "\(job)", "after": "\(segment.first - 1)", "upTo": "\(head.sequence)"])
            hub.changed(job)
        case .duplicate: break
        case .gap(let head):
            throw problem(.journalGap, segment, head.sequence, "The server's channel ends at \(head.sequence).")
        case .forked, .ownFuture:
            logger.error(
                "this server has said something else since it was set back; that job needs a person",
                metadata: ["job": "\(job)"])
            throw problem(
                .journalForked, segment, nil, "The server has said something else in this place since it was set back.")
        }
    }

    private func take(_ segment: JournalSegment, into job: JobID) async throws {
        switch try await store.ingest(segment, job: job, now: now.received) {
        case .stored: report(job)
        // It may still have another content: the store compares only where journals end.
        case .duplicate: try await settle(segment, of: job, isForked: false)
        case .gap(let head):
            throw problem(
                .journalGap, segment, head.sequence,
                "The run begins with \(segment.first), the server holds the journal up to \(head.sequence); send what is between."
            )
        case .forked: try await settle(segment, of: job, isForked: true)
        case .ownFuture: throw ChannelProblem(.channelUpload, "The channel is the server's own journal; leave it out.")
        }
    }

    /// Two journals have one name. Which stays is decided as between two laptops; what the other held is re-issued by
    /// whoever gives it up (rule R9).
    ///
    /// - Parameter isForked: surely; else it is looked at.
    private func settle(_ segment: JournalSegment, of job: JobID, isForked: Bool) async throws {
        guard let parting = try await store.divergence(of: segment, job: job) else {
            guard isForked else { return }
            throw problem(
                .journalForked, segment, nil,
                "The journal has another content here, from before this run on; send it from further back.")
        }
        if parting.agreed >= segment.head.sequence { return }
        guard !parting.staysHere else {
            throw problem(
                .journalForked, segment, parting.agreed,
                "The journal has another content here after \(parting.agreed), and that stays; take it over and write again what differs."
            )
        }
        // To take it over the server would write.
        try checkThatItDecides()
        var generator = SystemRandomNumberGenerator()
        let branch = try segment.dropping(through: parting.agreed)
        _ = try await store.adoptBranch(
            branch, job: job, after: parting.agreed, now: now.received, using: &generator)
        logger.warning(
            "a journal was forked; its other branch stays",
            metadata: ["job": "\(job)", "replica": "\(segment.replica)", "after": "\(parting.agreed)"])
        report(job)
    }

    private func report(_ job: JobID) {
        hub.changed(job)
        keeper.uploaded(job)
    }

    private func problem(
        _ code: ChannelProblem.Code, _ segment: JournalSegment, _ sequence: UInt64?, _ detail: String
    ) -> ChannelProblem {
        var problem = ChannelProblem(code, detail)
        problem.replica = segment.replica.description
        problem.sequence = sequence
        return problem
    }
}

extension JournalSegment {
    /// What follows a sequence that ends a change.
    fileprivate func dropping(through sequence: UInt64) throws(CodecError) -> JournalSegment {
        var next = first
        var start = 0
        try ChangeCodec.scan(bytes) { scanned, _ in
            next += UInt64(scanned.operationCount)
            if next <= sequence + 1 { start = scanned.record.upperBound }
        }
        return JournalSegment(replica: replica, first: sequence + 1, head: head, bytes: Array(bytes[start...]))
    }
}
