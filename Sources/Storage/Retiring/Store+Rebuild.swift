import CRDT
import GRDB

extension Store {
    /// Makes a job's items anew from its journals, without what is held, late or folded.
    static func rebuildItems(of job: Int64, in db: Database) throws {
        for table in ["item", "conflict", "barcode", "tombstone"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE job = ?", arguments: [job])
        }
        try db.execute(
            sql: "UPDATE job SET items = 0, removed = 0, conflicts = 0, barcodesAreIndexed = 0 WHERE number = ?",
            arguments: [job])
        var items = try ItemTable(job: job, maintainsBarcodes: false, in: db)
        let held = try HeldTable.dots(job: job, in: db)
        let late = try LateSpans(job: job, in: db)
        try SegmentReader.forEach(job: job, in: db) { scanned, buffer, dot in
            guard scanned.stub == nil, !scanned.isStatementOnly, held.isEmpty || !held.contains(dot),
                try !late.keepsOut(scanned, at: dot, job: job, in: db)
            else { return }
            try items.apply(scanned, in: buffer, of: dot.replica, sequence: dot.sequence)
        }
        try JobTable.add(items.counts, to: job, in: db)
    }
}

/// The late changes of a job, journal by journal, and what is gone; for passes over all of it.
struct LateSpans {
    private let spans: [ReplicaID: [ClosedRange<UInt64>]]
    private let gone: GoneTable?

    init(job: Int64, in db: Database) throws {
        guard try !StatementTable.isPlain(job, in: db) else {
            spans = [:]
            gone = nil
            return
        }
        let heads = try JournalTable.positions(of: job, in: db)
        spans = try StatementTable.roster(of: job, in: db).lateSpans(within: heads)
        gone = try GoneTable(job: job, in: db)
    }

    var isEmpty: Bool { spans.isEmpty }

    /// - Parameter dot: of its first transform.
    func holds(_ scanned: ScannedChange, at dot: Dot) -> Bool {
        guard !spans.isEmpty, scanned.statementCount == 0 else { return false }
        return spans[dot.replica]?.holds(scanned.last(from: dot.sequence)) ?? false
    }

    /// Whether a change is in no item; what was written on one that is gone is noted, so that it is folded.
    func keepsOut(_ scanned: ScannedChange, at dot: Dot, job: Int64, in db: Database) throws -> Bool {
        if holds(scanned, at: dot) { return true }
        guard let gone, try gone.holds(scanned.item) else { return false }
        try TombstoneTable.add(scanned.item, at: dot, job: job, in: db)
        return true
    }
}

extension Retirement {
    /// After a journal got another content: everything is looked at again.
    func settleAnew() throws {
        let roster = try StatementTable.roster(of: job, in: db)
        try settle(roster, lateBefore: [:], journals: nil)
        try Store.rebuildItems(of: job, in: db)
        try ReportTable.forget(job, in: db)
    }
}
