package import CRDT
import GRDB
import Synchronization

/// What became of a run of journal that a peer sent.
package enum IngestOutcome: Hashable, Sendable {
    /// With what it changed, if it was small enough for people to follow.
    case stored(JournalHead, applied: [AppliedChange])
    case duplicate(JournalHead)
    case gap(JournalHead)
    case forked(JournalHead)
    /// It is a piece of this store's own journal that this store does not have (rule R9).
    case ownFuture
}

extension Store {
    /// Takes a run of another replica's journal in, durably.
    /// - Throws: `CodecError` for malformed bytes, `StoreError` for everything else; either way nothing has changed.
    package func ingest(_ segment: JournalSegment, job: JobID) async throws -> IngestOutcome {
        try await write { [self] db in
            let known = try JobTable.number(of: job, in: db)
            let number = try known ?? JobTable.numberAddingIfNew(job, in: db)
            let outcome = try take(segment, into: JournalKey(job: number, replica: segment.replica), in: db)
            if case .stored = outcome { return outcome }
            // Nothing came of it: no empty job stays behind.
            if known == nil { try db.execute(sql: "DELETE FROM job WHERE number = ?", arguments: [number]) }
            return outcome
        }
    }

    private func take(_ segment: JournalSegment, into journal: JournalKey, in db: Database) throws -> IngestOutcome {
        if segment.replica == identity.replica,
            segment.head.sequence > (try JournalTable.head(of: journal, in: db)).sequence
        {
            return .ownFuture
        }
        switch try JournalWriter(db: db, journal: journal).ingest(segment) {
        case .stored(let reached):
            // What is written here next is later than what was seen.
            clock.withLock { $0.observe(reached.latest) }
            try joinLooseSegments(of: journal, after: segment.bytes.count, in: db)
            return .stored(reached.head, applied: reached.applied)
        case .duplicate(let head): return .duplicate(head)
        case .gap(let head): return .gap(head)
        case .forked(let head): return .forked(head)
        }
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
