import Authorship
package import CRDT
import GRDB
import Synchronization

/// When a peer's changes come in.
package struct ReceiveTime: Hashable, Sendable {
    /// Corrected time, since 1970.
    package let milliseconds: UInt64
    /// A server is behind it.
    package let isSynchronised: Bool

    /// Takes corrected time; whether it is synchronised decides whether what is written now may be re-stamped (rule
    /// R5).
    package init(milliseconds: UInt64, isSynchronised: Bool) {
        self.milliseconds = milliseconds
        self.isSynchronised = isSynchronised
    }
}

/// A run of another replica's journal, to be taken in.
package struct IncomingRun: Sendable {
    /// The job; it is entered when it is new and something of the run is stored.
    package let job: JobID
    /// Whole changes; what is held already is skipped.
    package let segment: JournalSegment
    private let verification = Verification()

    /// Takes a run whose bytes nobody has checked yet.
    package init(job: JobID, segment: JournalSegment) {
        self.job = job
        self.segment = segment
    }

    /// Whether an author has signed where it ends. Worked out once, by whoever asks first; who asks meanwhile waits for it.
    func isSigned(by author: JournalAuthor) -> Bool {
        verification.verdict.withLock { verdict in
            if let verdict, verdict.author == author { return verdict.isSigned }
            let isSigned =
                segment.signature.map {
                    author.hasSigned(segment.head, job: job, $0, of: segment.replica)
                } ?? false
            verdict = (author, isSigned)
            return isSigned
        }
    }

    private final class Verification: Sendable {
        let verdict = Mutex<(author: JournalAuthor, isSigned: Bool)?>(nil)
    }
}

/// A run that was to be taken in, and what it changed.
package struct Ingested: Hashable, Sendable {
    /// What became of it.
    package let result: IngestResult
    /// What was new of a stored run, with its author: the rest of it was not looked at, and must not be passed on.
    package let news: JournalSegment?
    /// What a stored run changed, if it was small enough for people to follow.
    package let applied: [AppliedChange]
    /// Statements are among what was stored, of a job that goes on: see `Operation.isStatement`.
    package let hasStatements: Bool
    /// A stored run says that its job has ended, and with it the job has.
    package let ended: RemovalOutcome?

    /// Takes what changed as it is; all stays empty for a run of which nothing was stored.
    package init(
        _ result: IngestResult, news: JournalSegment? = nil, applied: [AppliedChange] = [],
        hasStatements: Bool = false, ended: RemovalOutcome? = nil
    ) {
        self.result = result
        self.news = news
        self.applied = applied
        self.hasStatements = hasStatements
        self.ended = ended
    }
}

extension Store {
    /// Takes a run of another replica's journal in, durably.
    /// - Throws: `CodecError` for malformed bytes, `StoreError` for everything else; either way nothing has changed.
    package func ingest(
        _ segment: JournalSegment, job: JobID, now: ReceiveTime
    ) async throws -> Ingested {
        try await ingest(segment, job: job, now: now, takesOwnFuture: false)
    }

    /// The same for a piece of this store's own journal that it has lost; only for a store that is the channel, whose name
    /// no other can take, and which writes nothing of its own meanwhile.
    package func recover(
        _ segment: JournalSegment, job: JobID, now: ReceiveTime
    ) async throws -> Ingested {
        try await ingest(segment, job: job, now: now, takesOwnFuture: identity.replica == .channel)
    }

    /// Takes runs of other replicas' journals in, durably, with one flush for all of them.
    ///
    /// - Returns: what became of each, in their order; a malformed one changes nothing and leaves the others alone.
    /// - Throws: `StoreError`; then nothing of them is stored.
    package func ingest(
        _ runs: [IncomingRun], now: ReceiveTime
    ) async throws -> [Ingested] {
        try await take(runs) { [self] db in
            try runs.map { run in
                do {
                    return try ingest(run, now: now, takesOwnFuture: false, in: db)
                } catch let error as CodecError {
                    return Ingested(.malformed("\(error)"))
                }
            }
        }
    }

    private func ingest(
        _ segment: JournalSegment, job: JobID, now: ReceiveTime, takesOwnFuture: Bool
    ) async throws -> Ingested {
        let run = IncomingRun(job: job, segment: segment)
        return try await take([run]) { [self] db in
            try ingest(run, now: now, takesOwnFuture: takesOwnFuture, in: db)
        }
    }

    /// Looks at a signature while the writer wakes up and begins its transaction, so that one edit is durable the sooner. Of runs
    /// that come together only at the first, and at none where they are long: the caller's thread has other work to do.
    private func take<Value: Sendable>(
        _ runs: [IncomingRun], _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let isLong = runs.reduce(0) { $0 + $1.segment.bytes.count } > Self.fewBytes
        return try await write(isLong: isLong, meanwhile: { [self] in if !isLong { verify(runs.first) } }, body)
    }

    private func verify(_ run: IncomingRun?) {
        guard let run, let name = run.segment.authorName, let author = authors.withLock({ $0[name] }) else { return }
        _ = run.isSigned(by: author)
    }

    /// Of journals; more hold up whoever shares their transaction.
    static let fewBytes = 32 << 10

    /// Leaves nothing of a run that is not stored or that is malformed, not even an empty job.
    func ingest(
        _ run: IncomingRun, now: ReceiveTime, takesOwnFuture: Bool, in db: Database
    ) throws -> Ingested {
        var ingested = Ingested(.failed)
        do {
            try db.inSavepoint {
                let job = try JobRows(entering: run.job, in: db)
                var transaction = JobTransaction(self, id: run.job, job: job, now: now)
                ingested = try transaction.ingest(run, takesOwnFuture: takesOwnFuture)
                return .commit
            }
        } catch let nothing as JournalWriter.NotTaken {
            try keepCertificates(from: run.segment, after: nothing.result, in: db)
            return Ingested(nothing.result)
        }
        return ingested
    }

    /// What was undone with a run may be news although the run is not: its author has joined the fleet since.
    private func keepCertificates(
        from segment: JournalSegment, after result: IngestResult, in db: Database
    ) throws {
        guard case .duplicate = result, let author = segment.author, author.name == segment.authorName,
            !author.certificates.isEmpty,
            try self.author(named: author.name, in: db)?.certificates.isEmpty ?? false
        else { return }
        try add(author, in: db)
    }
}

extension JobTransaction {
    /// - Throws: `JournalWriter.NotTaken` among others, after which what was written has to be undone.
    fileprivate mutating func ingest(_ run: IncomingRun, takesOwnFuture: Bool) throws -> Ingested {
        let segment = run.segment
        let journal = job.journal(of: segment.replica)
        let author = try vouch(for: segment)
        if try !takesOwnFuture && isOwnFuture(segment, of: journal) {
            try check(run, of: author)
            throw JournalWriter.NotTaken(.ownFuture(of: own.replica))
        }
        let reached = try JournalWriter(journal: journal, received: now, seal: segment.seal)
            .ingest(segment) { try check(run, of: author) }
        // What is written here next is later than what was seen.
        store.clock.withLock { $0.observe(reached.credible, nowMilliseconds: now.milliseconds) }
        tell(of: reached.forged, in: segment.replica)
        try store.joinLooseSegments(of: journal, after: segment.bytes.count)
        try journal.endDoubt()
        let known = reached.base.sequence
        var news = segment.first > known ? segment : try segment.dropping(through: known)
        news.author = author
        guard let removal = try removal(by: reached.removals, in: journal) else {
            return Ingested(
                .stored, news: news, applied: reached.applied, hasStatements: reached.hasStatements)
        }
        // The end of a job says that others hold more of this store's journal: nothing is stored before it has another name.
        if try own.isUnlike(removal) { throw JournalWriter.NotTaken(.ownFuture(of: own.replica)) }
        return Ingested(.stored, news: news, ended: try end(removal))
    }

    private func isOwnFuture(_ segment: JournalSegment, of journal: JournalRows) throws -> Bool {
        try segment.replica == own.replica && segment.head.sequence > journal.head().sequence
    }
}
