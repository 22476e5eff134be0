import CRDT
import Foundation
import GRDB

/// Brings a job's tables to what its cuts say, in the transaction that learned them.
struct Retirement {
    let job: Int64
    let db: Database

    /// - Parameters:
    ///   - lateBefore: what was late when the items were last brought up to date; nil if nothing has become late.
    ///   - journals: those that have grown; nil for all.
    ///   - gone: what folds that are new name.
    func settle(
        _ roster: Roster, lateBefore: [ReplicaID: [ClosedRange<UInt64>]]?, journals: [ReplicaID]?,
        gone: Set<ItemID> = []
    ) throws {
        let heads = try JournalTable.positions(of: job, in: db)
        // Also in a job that is removed: its late work is listed, and a fold says what of it is nothing to decide about.
        try foldPending(heads: heads)
        if let removal = roster.removal {
            try foldAll(within: removal, heads: heads.filter { journals?.contains($0.replica) ?? true })
            if journals == nil { try rebuild() }
            return
        }
        if let lateBefore, roster.lateSpans(within: heads) != lateBefore {
            try rebuild()
        } else if !gone.isEmpty {
            try forget(gone)
            try ReportTable.forget(job, in: db)
        }
    }

    /// Folds what folds name and this store holds, run by run, where its copy of the journal is the one that they mean.
    /// This only saves room: what is gone is gone from when the fold is known.
    private func foldPending(heads: [Position]) throws {
        guard try FoldingTable.hasPending(job, in: db), let gone = try GoneTable(job: job, in: db) else { return }
        for row in try FoldingTable.rows(of: job, pendingOnly: true, in: db) {
            let journal = JournalKey(job: job, replica: row.journal.replica)
            let reached = row.journal.runs.filter { $0.span.upperBound <= heads[of: journal.replica] }
            guard !reached.isEmpty else { continue }
            let folding = JournalFolding(journal: journal, db: db)
            let boundaries = try folding.boundaries(of: reached.map(\.span))
            let meant = reached.filter { boundaries[$0.span.upperBound]?.digest == $0.digest }
            let open = meant.filter { boundaries[$0.span.upperBound]?.isFolded == false }
            try folding.fold(open.map(\.span), of: gone)
            if meant.count == row.journal.runs.count { try FoldingTable.setDone(row, job: job, in: db) }
        }
    }

    private func foldAll(within removal: [Position], heads: [Position]) throws {
        for head in heads {
            let reach = min(removal[of: head.replica], head.sequence)
            guard reach > 0 else { continue }
            let journal = JournalKey(job: job, replica: head.replica)
            try JournalFolding(journal: journal, db: db).fold([1...reach], of: nil)
            try HeldTable.remove(journal, within: 1...reach, in: db)
        }
        try db.execute(sql: "DELETE FROM unseen WHERE job = ?", arguments: [job])
    }

    private func rebuild() throws {
        try Store.rebuildItems(of: job, in: db)
        try ReportTable.forget(job, in: db)
    }

    /// Drops the rows of items that are gone.
    private func forget(_ items: Set<ItemID>) throws {
        guard !items.isEmpty else { return }
        var counts = ItemCounts()
        for item in items.sorted() {
            guard let state = try ItemTable.state(of: item, job: job, in: db) else { continue }
            if state.removed == nil { counts.items -= 1 } else { counts.removed -= 1 }
            counts.conflicts -= state.conflictCount
            try BarcodeTable(job: job, db: db).change(of: item, from: state, to: ItemState())
            if state.conflictCount > 0 { try ConflictTable.set(false, item: item, job: job, in: db) }
            try db.execute(sql: "DELETE FROM item WHERE job = ? AND id = ?", arguments: [job, item.value.blob])
        }
        try JobTable.add(counts, to: job, in: db)
    }
}

extension JournalTable {
    static func positions(of job: Int64, in db: Database) throws -> [Position] {
        try vector(of: job, in: db).entries.map { Position(replica: $0.replica, sequence: $0.head.sequence) }
    }
}

extension HeldTable {
    static func remove(_ journal: JournalKey, within run: ClosedRange<UInt64>, in db: Database) throws {
        try db.execute(
            sql: "DELETE FROM held WHERE job = ? AND replica = ? AND sequence BETWEEN ? AND ?",
            arguments: [journal.job, journal.replica.value.blob, run.lowerBound.signed, run.upperBound.signed])
    }
}
