import CRDT
import GRDB
import Inventory

/// Takes a run of one replica's journal into the tables, inside a transaction.
struct JournalWriter {
    /// Batches up to this size are shown to people change by change.
    static let collectedBytes = 16 << 10

    let db: Database
    let journal: JournalKey
    /// When a peer's run comes in; nil for this store's own work, which is never held.
    let received: ReceiveTime?

    struct Reached {
        let head: JournalHead
        /// The greatest stamp that was taken in, and the greatest that a clock can have given by now.
        let latest: Stamp
        let credible: Stamp
        let applied: [AppliedChange]
    }

    enum Outcome {
        case stored(Reached)
        case duplicate(JournalHead)
        /// The run begins after the journal's end.
        case gap(JournalHead)
        /// The run does not continue what is held: two journals have one name (rule R9).
        case forked(JournalHead)
    }

    private struct Forked: Error {}

    /// Takes a peer's run in. What is held already is skipped; what follows must lead to the digest that the run claims.
    func ingest(_ segment: JournalSegment) throws -> Outcome {
        let known = try JournalTable.head(of: journal, in: db)
        if segment.first > known.sequence + 1 { return .gap(known) }
        if segment.head.sequence <= known.sequence {
            return segment.head.sequence == known.sequence && segment.head.digest != known.digest
                ? .forked(known) : .duplicate(known)
        }
        var reached: Reached?
        do {
            try db.inSavepoint {
                let candidate = try apply(segment.bytes, first: segment.first, after: known)
                guard candidate.head == segment.head else { throw Forked() }
                reached = candidate
                return .commit
            }
        } catch is Forked {
            return .forked(known)
        }
        return reached.map { .stored($0) } ?? .duplicate(known)
    }

    /// Applies and stores the part of `bytes` after `known`; returns where the journal then stands.
    func apply(_ bytes: [UInt8], first: UInt64, after known: JournalHead) throws -> Reached {
        var sequence = first - 1
        var digest = known.digest
        var latest = Stamp.zero
        var credible = Stamp.zero
        let credibleLimit = received.map { HybridLogicalClock.limit(nowMilliseconds: $0.milliseconds) } ?? .greatest
        let holdLimit = received?.holdLimit ?? .greatest
        var start: Int?
        var items: ItemTable?
        var failure: (any Error)?
        let isBulk = bytes.count > BarcodeTable.bulk * 64
        var lateness = try Lateness(journal, in: db)
        var told: [AppliedChange] = []
        try ChangeCodec.scan(bytes) { scanned, buffer in
            guard failure == nil else { return }
            let isNew = sequence >= known.sequence
            let first = sequence + 1
            sequence += UInt64(scanned.operationCount)
            guard isNew else { return }
            if start == nil { start = scanned.record.lowerBound }
            digest = JournalDigest.extend(digest, with: scanned, in: buffer)
            latest = max(latest, scanned.stamp)
            if scanned.stamp <= credibleLimit { credible = max(credible, scanned.stamp) }
            do {
                if items == nil { items = try itemTable(isBulk: isBulk, collects: bytes.count <= Self.collectedBytes) }
                if scanned.stub != nil {
                    return try lateness.noteStub(first...sequence)
                }
                if scanned.statementCount > 0 {
                    let change = ChangeCodec.decode(scanned, in: buffer)
                    try lateness.note(change, at: first)
                    if scanned.requestCount > 0 || journal.replica == .channel {
                        let dot = Dot(replica: journal.replica, sequence: first)
                        try RequestTable.note(change, at: dot, job: journal.job, in: db)
                    }
                    if scanned.isStatementOnly {
                        if bytes.count <= Self.collectedBytes { told += Self.told(change, in: journal, at: first) }
                        return
                    }
                } else if try lateness.keepsOut(scanned, first...sequence) {
                    return
                }
                if scanned.stamp > holdLimit, try mustHold(scanned) {
                    let record = UnsafeRawBufferPointer(rebasing: buffer[scanned.record])
                    try HeldTable.add(record, stamp: scanned.stamp, sequence: first, of: journal, in: db)
                } else {
                    try items?.apply(scanned, in: buffer, of: journal.replica, sequence: first)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        let head = JournalHead(sequence: sequence, digest: digest)
        guard let start, let items else {
            return Reached(head: head, latest: latest, credible: credible, applied: [])
        }
        try JobTable.add(items.counts, to: journal.job, in: db)
        try JournalTable.append(bytes[start...], after: known, head: head, latest: latest, to: journal, in: db)
        try lateness.settle()
        return Reached(head: head, latest: latest, credible: credible, applied: told + items.applied)
    }

    /// A statement, if it is one that people read in the timeline: of no item's state.
    private static func told(_ change: Change, in journal: JournalKey, at sequence: UInt64) -> [AppliedChange] {
        let dot = Dot(replica: journal.replica, sequence: sequence)
        let entry = TimelineEntry(change, key: TimelineKey(change, at: dot), isFirst: false) { _ in nil }
        guard !entry.decisions.isEmpty else { return [] }
        return [AppliedChange(change: change, dot: dot, before: ItemState(), after: ItemState())]
    }

    /// Whether a change from beyond the limit also lies beyond what its item holds: who writes on top of a future that
    /// is in the items already, because it was taken in by a laptop without the time, is no liar.
    private func mustHold(_ scanned: ScannedChange) throws -> Bool {
        let state = try ItemTable.state(of: scanned.item, job: journal.job, in: db)
        let reached = state?.latestStamp.milliseconds ?? 0
        return scanned.stamp > HybridLogicalClock.limit(nowMilliseconds: reached)
    }

    private func itemTable(isBulk: Bool, collects: Bool) throws -> ItemTable {
        var isIndexed = try JobTable.areBarcodesIndexed(journal.job, in: db)
        if isIndexed, isBulk {
            try JobTable.setBarcodesIndexed(false, job: journal.job, in: db)
            isIndexed = false
        }
        return try ItemTable(
            job: journal.job, maintainsBarcodes: isIndexed, collectsApplied: collects, in: db)
    }
}
