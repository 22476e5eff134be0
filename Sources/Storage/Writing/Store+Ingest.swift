package import CRDT
import GRDB
import Synchronization

/// When a peer's changes come in.
package struct ReceiveTime: Hashable, Sendable {
    /// Corrected time, since 1970.
    package let milliseconds: UInt64
    /// A server is behind it. Without one nobody can tell the future, and only absurd stamps are held.
    package let isSynchronised: Bool
    /// The latest that it may be: what a right clock says is never held, however long ago this one was put right.
    package let latestMilliseconds: UInt64

    /// - Parameter latestMilliseconds: nil for a time that is exact, or that nobody knows.
    package init(milliseconds: UInt64, isSynchronised: Bool, latestMilliseconds: UInt64? = nil) {
        self.milliseconds = milliseconds
        self.isSynchronised = isSynchronised
        self.latestMilliseconds = max(milliseconds, latestMilliseconds ?? 0)
    }

    /// Changes with a later stamp are held.
    var holdLimit: Stamp {
        isSynchronised ? dueLimit : .observable
    }

    /// Changes that are held up to this stamp are due.
    var dueLimit: Stamp { HybridLogicalClock.limit(nowMilliseconds: latestMilliseconds) }
}

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
    /// Takes a run of another replica's journal in, durably; what lies in the future is held (rule R6).
    /// - Throws: `CodecError` for malformed bytes, `StoreError` for everything else; either way nothing has changed.
    package func ingest(
        _ segment: JournalSegment, job: JobID, now: ReceiveTime
    ) async throws -> IngestOutcome {
        try await ingest(segment, job: job, now: now, takesOwnFuture: false)
    }

    /// The same for a piece of this store's own journal that it has lost; only for a store that is the channel, whose name
    /// no other can take, and which writes nothing of its own meanwhile.
    package func takeBack(
        _ segment: JournalSegment, job: JobID, now: ReceiveTime
    ) async throws -> IngestOutcome {
        try await ingest(segment, job: job, now: now, takesOwnFuture: identity.replica == .channel)
    }

    private func ingest(
        _ segment: JournalSegment, job: JobID, now: ReceiveTime, takesOwnFuture: Bool
    ) async throws -> IngestOutcome {
        try await write { [self] db in
            let known = try JobTable.number(of: job, in: db)
            let number = try known ?? JobTable.numberAddingIfNew(job, in: db)
            let journal = JournalKey(job: number, replica: segment.replica)
            let outcome =
                try !takesOwnFuture && isOwnFuture(segment, of: journal, in: db)
                ? .ownFuture : take(segment, into: journal, now: now, in: db)
            if case .stored = outcome { return outcome }
            // Nothing came of it: no empty job stays behind.
            if known == nil { try db.execute(sql: "DELETE FROM job WHERE number = ?", arguments: [number]) }
            return outcome
        }
    }

    private func take(
        _ segment: JournalSegment, into journal: JournalKey, now: ReceiveTime, in db: Database
    ) throws -> IngestOutcome {
        switch try JournalWriter(db: db, journal: journal, received: now).ingest(segment) {
        case .stored(let reached):
            // What is written here next is later than what was seen.
            clock.withLock { $0.observe(reached.credible, nowMilliseconds: now.milliseconds) }
            try joinLooseSegments(of: journal, after: segment.bytes.count, in: db)
            return .stored(reached.head, applied: reached.applied)
        case .duplicate(let head): return .duplicate(head)
        case .gap(let head): return .gap(head)
        case .forked(let head): return .forked(head)
        }
    }

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
