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

    /// Takes a run whose bytes nobody has checked yet.
    package init(job: JobID, segment: JournalSegment) {
        self.job = job
        self.segment = segment
    }
}

/// A run that was to be taken in, and what it changed.
package struct Ingested: Hashable, Sendable {
    /// What became of it.
    package let result: IngestResult
    /// What a stored run changed, if it was small enough for people to follow.
    package let applied: [AppliedChange]
    /// Statements are among what was stored, of a job that goes on: see `Operation.isStatement`.
    package let hasStatements: Bool
    /// A stored run says that its job has ended, and with it the job has.
    package let ended: RemovalOutcome?

    /// Takes what changed as it is; all stays empty for a run of which nothing was stored.
    package init(
        _ result: IngestResult, applied: [AppliedChange] = [], hasStatements: Bool = false,
        ended: RemovalOutcome? = nil
    ) {
        self.result = result
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
        try await write(isLong: runs.reduce(0) { $0 + $1.segment.bytes.count } > Self.fewBytes) { [self] db in
            try runs.map { run in
                var ingested = Ingested(.failed)
                do {
                    try db.inSavepoint {
                        ingested = try ingest(run, now: now, takesOwnFuture: false, in: db)
                        return .commit
                    }
                } catch let error as CodecError {
                    return Ingested(.malformed("\(error)"))
                }
                return ingested
            }
        }
    }

    private func ingest(
        _ segment: JournalSegment, job: JobID, now: ReceiveTime, takesOwnFuture: Bool
    ) async throws -> Ingested {
        try await write(isLong: segment.bytes.count > Self.fewBytes) { [self] db in
            try ingest(
                IncomingRun(job: job, segment: segment), now: now, takesOwnFuture: takesOwnFuture, in: db)
        }
    }

    /// Of journals; more hold up whoever shares their transaction.
    static let fewBytes = 32 << 10

    func ingest(
        _ run: IncomingRun, now: ReceiveTime, takesOwnFuture: Bool, in db: Database
    ) throws -> Ingested {
        let known = try JobTable.number(of: run.job, in: db)
        let number = try known ?? JobTable.numberAddingIfNew(run.job, in: db)
        let journal = JournalKey(job: number, replica: run.segment.replica)
        var ingested = Ingested(.ownFuture(of: writingIdentity.replica))
        if try takesOwnFuture || !isOwnFuture(run.segment, of: journal, in: db) {
            do {
                try db.inSavepoint {
                    ingested = try append(run.segment, of: run.job, into: journal, now: now, in: db)
                    return .commit
                }
            } catch is OwnFutureShown {
                ingested = Ingested(.ownFuture(of: writingIdentity.replica))
            }
        }
        // Nothing came of it: no empty job stays behind.
        if known == nil, ingested.result != .stored {
            try db.execute(sql: "DELETE FROM job WHERE number = ?", arguments: [number])
        }
        return ingested
    }

    private func append(
        _ segment: JournalSegment, of job: JobID, into journal: JournalKey, now: ReceiveTime, in db: Database
    ) throws -> Ingested {
        let (result, reached) = try JournalWriter(db: db, journal: journal, received: now).ingest(segment)
        guard let reached else { return Ingested(result) }
        // What is written here next is later than what was seen.
        clock.withLock { $0.observe(reached.credible, nowMilliseconds: now.milliseconds) }
        try joinLooseSegments(of: journal, after: segment.bytes.count, in: db)
        try DoubtTable.remove(journal, in: db)
        guard let first = reached.removals.first else {
            return Ingested(result, applied: reached.applied, hasStatements: reached.hasStatements)
        }
        let removal = reached.removals.dropFirst().reduce(first) { $0.merged(with: $1) }
        let own = JournalKey(job: journal.job, replica: writingIdentity.replica)
        if try Self.showsOwnFuture(removal, of: own, in: db) { throw OwnFutureShown() }
        return Ingested(result, ended: try end(removal, of: job, number: journal.job, now: now, in: db))
    }

    /// The end of a job says so, of which nothing may be stored before this store has another name.
    private struct OwnFutureShown: Error {}

    private func isOwnFuture(_ segment: JournalSegment, of journal: JournalKey, in db: Database) throws -> Bool {
        try segment.replica == writingIdentity.replica
            && segment.head.sequence > JournalTable.head(of: journal, in: db).sequence
    }

    func joinLooseSegments(of journal: JournalKey, after bytes: Int, in db: Database) throws {
        guard bytes <= JournalTable.smallSegmentBytes else { return }
        let mustJoin = looseSegments.withLock { loose in
            loose[journal, default: 0] += 1
            guard loose[journal, default: 0] >= JournalTable.looseSegmentLimit else { return false }
            loose[journal] = 0
            return true
        }
        if mustJoin { try JournalTable.joinSmallSegments(of: journal, in: db) }
    }
}
