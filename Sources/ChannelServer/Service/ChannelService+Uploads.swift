import Authorship
import CRDT
import Logging
import ServerChannel
import Storage

/// Journals that laptops bring, their own and others'.
extension ChannelService {
    /// Takes runs in, in their order; when this returns they are durable.
    func upload(_ segments: [JournalSegment], to job: JobID, by access: JobAccess) async throws -> JobHoldings {
        guard segments.count <= ChannelLimits.segments else {
            throw ChannelProblem(.tooLarge, "More than \(ChannelLimits.segments) runs at once; send fewer.")
        }
        for segment in segments {
            guard try await identity.vouches(for: segment) else {
                let device = segment.author.map { " Its device is \($0.device.short)." } ?? ""
                throw problem(
                    .outsider, segment, nil,
                    "Nobody whom this server's fleet lets write has signed it; let that laptop join first.\(device)")
            }
            guard segment.replica != .channel else {
                try await recover(segment, into: job)
                continue
            }
            try await store(segment, into: job)
        }
        return try await tellable(try await store.holdings(of: job), of: job, to: access)
    }

    /// Ends a job as a laptop says that is on it; when this returns that is durable. To who is not it is said what is said of a job that goes
    /// on.
    func remove(_ job: JobID, _ removal: JobRemoval, by access: JobAccess) async throws -> JobHoldings {
        try checkThatItWrites(access)
        guard try await mayReceive(job, access) else {
            logger.warning(
                "\(RefusedEnd.sentence)", metadata: ["job": "\(job)", "device": "\(access.device.short)"])
            return try await tellable(try await held(of: job), of: job, to: access)
        }
        var generator = SystemRandomNumberGenerator()
        try await unlessSilent {
            _ = try await store.takeRemoval(
                removal, of: job, now: now.received, mayWrite: mayWrite(of: job), using: &generator)
        }
        logger.notice("a job was removed", metadata: ["job": "\(job)", "name": "\(removal.name)"])
        report(job)
        return try await tellable(try await store.holdings(of: job), of: job, to: access)
    }

    private func held(of job: JobID) async throws -> JobHoldings {
        do { return try await store.holdings(of: job) } catch let error as StoreError where error.code == .unknownJob {
            return JobHoldings()
        }
    }

    /// What this server had said, and has lost.
    private func recover(_ segment: JournalSegment, into job: JobID) async throws {
        guard isRecovering else {
            try await noteClaim(segment, to: job)
            throw ChannelProblem(.channelUpload, "The channel is the server's own journal; leave it out.")
        }
        switch try await store.recover(segment, job: job, now: now.received).result {
        case .stored:
            logger.notice(
                "words of this server's own came back",
                metadata: ["job": "\(job)", "after": "\(segment.first - 1)", "upTo": "\(segment.head.sequence)"])
            hub.changed(job)
        case .duplicate: break
        case .gap(let head):
            throw problem(.journalGap, segment, head.sequence, "The server's channel ends at \(head.sequence).")
        case .forged(let reason): throw ChannelProblem(.malformed, reason)
        case .forked, .ownFuture, .malformed, .unvouched, .failed:
            logger.error(
                "this server has said something else since it was set back; put the backup back again and serve with --recover first",
                metadata: ["job": "\(job)"])
            throw problem(
                .journalForked, segment, nil, "The server has said something else in this place since it was set back.")
        }
    }

    /// A laptop shows words of this server's own, statements among them. If they reach beyond what it holds, it was set back.
    private func noteClaim(_ segment: JournalSegment, to job: JobID) async throws {
        guard let signature = segment.signature else { return }
        let isSigned =
            if let author = segment.author {
                author.hasSigned(segment.head, job: job, signature, of: segment.replica)
            } else {
                try await store.hasSigned(segment, of: job)
            }
        guard isSigned else {
            logger.error(
                "a laptop shows what this server has never said: find out who has that laptop",
                metadata: ["job": "\(job)", "upTo": "\(segment.head.sequence)"])
            return
        }
        var says = false
        try ChangeCodec.scan(segment.bytes) { scanned, _ in says = says || scanned.statementCount > 0 }
        let head = (try? await store.vector(of: job))?[.channel].sequence ?? 0
        guard says, segment.first <= head + 1, segment.head.sequence > head, setBack.insert(job) else { return }
        logger.error(
            "a laptop holds more of what this server has said than the server: it was set back, serve with --recover",
            metadata: ["job": "\(job)", "here": "\(head)", "there": "\(segment.head.sequence)"])
    }

    private func store(_ segment: JournalSegment, into job: JobID) async throws {
        let outcome = try await unlessSilent {
            try await store.upload(segment, job: job, now: now.received, mayWrite: mayWrite(of: job))
        }
        switch outcome {
        case .stored: report(job)
        case .known: break
        case .adopted(let agreed):
            logger.warning(
                "a journal was forked; its other branch stays",
                metadata: ["job": "\(job)", "replica": "\(segment.replica)", "after": "\(agreed)"])
            report(job)
        case .gap(let head):
            throw problem(
                .journalGap, segment, head.sequence,
                "The run begins with \(segment.first), the server holds the journal up to \(head.sequence); send what is between."
            )
        case .partsEarlier:
            throw problem(
                .journalForked, segment, nil,
                "The journal has another content here, from before this run on; send it from further back.")
        case .staysHere(let agreed):
            throw problem(
                .journalForked, segment, agreed,
                "The journal has another content here after \(agreed), and that stays; take it over and write again what differs."
            )
        case .forged(let reason): throw ChannelProblem(.malformed, reason)
        case .ownJournal: throw ChannelProblem(.channelUpload, "The channel is the server's own journal; leave it out.")
        }
    }

    /// Not `unavailable`, which would end the round in which a laptop brings what is missing of other jobs.
    private func unlessSilent<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch is ChannelIsSilent {
            throw ChannelProblem(
                .channelBehind,
                "This server was set back; it takes this only when it has its own words again.")
        }
    }

    /// Whether the channel may go on: no part of it is missing as far as anybody has shown.
    private func mayWrite(of job: JobID) -> Bool { !isRecovering && !setBack.contains(job) }

    private func report(_ job: JobID) {
        hub.changed(job)
        batcher.uploaded(job)
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
