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

/// What became of a run of journal that a peer sent.
package enum IngestOutcome: Hashable, Sendable {
    /// With what it changed, if it was small enough for people to follow.
    case stored(JournalHead, applied: [AppliedChange])
    /// It says that its job has ended, and with it the job has.
    case ended(RemovalOutcome)
    /// All of it lies within what is held, which ends with this head; only the ends were compared.
    case duplicate(JournalHead)
    /// It begins after what is held, which ends with this head.
    case gap(JournalHead)
    /// It does not fit what is held, which ends with this head: two journals have one name (rule R9).
    case forked(JournalHead)
    /// It is a piece of this store's own journal that this store does not have (rule R9).
    case ownFuture
}

extension Store {
    /// Takes a run of another replica's journal in, durably.
    /// - Throws: `CodecError` for malformed bytes, `StoreError` for everything else; either way nothing has changed.
    package func ingest(
        _ segment: JournalSegment, job: JobID, now: ReceiveTime
    ) async throws -> IngestOutcome {
        try await ingest(segment, job: job, now: now, takesOwnFuture: false)
    }

    /// The same for a piece of this store's own journal that it has lost; only for a store that is the channel, whose name
    /// no other can take, and which writes nothing of its own meanwhile.
    package func recover(
        _ segment: JournalSegment, job: JobID, now: ReceiveTime
    ) async throws -> IngestOutcome {
        try await ingest(segment, job: job, now: now, takesOwnFuture: identity.replica == .channel)
    }

    /// Takes runs of other replicas' journals in, durably, with one flush for all of them.
    ///
    /// - Returns: what became of each, in their order; a malformed one changes nothing and leaves the others alone.
    /// - Throws: `StoreError`; then nothing of them is stored.
    package func ingest(
        _ runs: [IncomingRun], now: ReceiveTime
    ) async throws -> [Result<IngestOutcome, CodecError>] {
        try await write { [self] db in
            try runs.map { run in
                var outcome = IngestOutcome.ownFuture
                do {
                    try db.inSavepoint {
                        outcome = try ingest(run, now: now, takesOwnFuture: false, in: db)
                        return .commit
                    }
                } catch let error as CodecError {
                    return .failure(error)
                }
                return .success(outcome)
            }
        }
    }

    private func ingest(
        _ segment: JournalSegment, job: JobID, now: ReceiveTime, takesOwnFuture: Bool
    ) async throws -> IngestOutcome {
        try await write { [self] db in
            try ingest(
                IncomingRun(job: job, segment: segment), now: now, takesOwnFuture: takesOwnFuture, in: db)
        }
    }

    func ingest(
        _ run: IncomingRun, now: ReceiveTime, takesOwnFuture: Bool, in db: Database
    ) throws -> IngestOutcome {
        let known = try JobTable.number(of: run.job, in: db)
        let number = try known ?? JobTable.numberAddingIfNew(run.job, in: db)
        let journal = JournalKey(job: number, replica: run.segment.replica)
        var outcome = IngestOutcome.ownFuture
        if try takesOwnFuture || !isOwnFuture(run.segment, of: journal, in: db) {
            do {
                try db.inSavepoint {
                    outcome = try append(run.segment, of: run.job, into: journal, now: now, in: db)
                    return .commit
                }
            } catch is OwnFutureShown {
                outcome = .ownFuture
            }
        }
        switch outcome {
        case .stored, .ended: return outcome
        case .duplicate, .gap, .forked, .ownFuture: break
        }
        // Nothing came of it: no empty job stays behind.
        if known == nil { try db.execute(sql: "DELETE FROM job WHERE number = ?", arguments: [number]) }
        return outcome
    }

    private func append(
        _ segment: JournalSegment, of job: JobID, into journal: JournalKey, now: ReceiveTime, in db: Database
    ) throws -> IngestOutcome {
        switch try JournalWriter(db: db, journal: journal, received: now).ingest(segment) {
        case .stored(let reached):
            // What is written here next is later than what was seen.
            clock.withLock { $0.observe(reached.credible, nowMilliseconds: now.milliseconds) }
            try joinLooseSegments(of: journal, after: segment.bytes.count, in: db)
            try DoubtTable.remove(journal, in: db)
            guard let first = reached.removals.first else { return .stored(reached.head, applied: reached.applied) }
            let removal = reached.removals.dropFirst().reduce(first) { $0.merged(with: $1) }
            let own = JournalKey(job: journal.job, replica: identity.replica)
            if try Self.showsOwnFuture(removal, of: own, in: db) { throw OwnFutureShown() }
            return .ended(try end(removal, of: job, number: journal.job, now: now, in: db))
        case .duplicate(let head): return .duplicate(head)
        case .gap(let head): return .gap(head)
        case .forked(let head): return .forked(head)
        }
    }

    /// The end of a job says so, of which nothing may be stored before this store has another name.
    private struct OwnFutureShown: Error {}

    private func isOwnFuture(_ segment: JournalSegment, of journal: JournalKey, in db: Database) throws -> Bool {
        try segment.replica == identity.replica
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
