import CRDT
import Foundation
import GRDB

/// What the folds of a job name, journal by journal, and stubs that came before the fold that explains them.
enum FoldingTable {
    struct Row {
        let author: Dot
        let journal: Fold.Journal
    }

    static func add(_ fold: Fold, at dot: Dot, job: Int64, in db: Database) throws {
        try GoneTable.add(fold.items, job: job, in: db)
        for journal in fold.journals {
            // The codec of a fold is good for a part of it.
            let part = Fold(bounds: [], members: [], items: [], journals: [journal])
            let record = ChangeCodec.encode(Change(item: .job, stamp: .zero, operations: [.fold(part)]))
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO folding (job, author, sequence, replica, record, isPending)
                    VALUES (?, ?, ?, ?, ?, 1)
                    """,
                arguments: [
                    job, dot.replica.value.blob, dot.sequence.signed, journal.replica.value.blob, Data(record),
                ])
        }
    }

    static func hasPending(_ job: Int64, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM folding WHERE job = ? AND isPending)")
        return try Bool.fetchOne(statement, arguments: [job]) ?? false
    }

    static func rows(of job: Int64, pendingOnly: Bool, in db: Database) throws -> [Row] {
        let condition = pendingOnly ? "AND isPending" : ""
        return try GRDB.Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT author, sequence, record FROM folding WHERE job = ? \(condition)
                    ORDER BY author, sequence, replica
                    """), arguments: [job]
        ).compactMap { row in
            let author = ReplicaID(UInt128(blob: row["author"]))
            let dot = Dot(replica: author, sequence: UInt64(bitPattern: row["sequence"]))
            let change = try ChangeCodec.decodeAll([UInt8](row["record"] as Data)).first
            guard case .fold(let fold) = change?.operations.first, let journal = fold.journals.first else { return nil }
            return Row(author: dot, journal: journal)
        }
    }

    static func setDone(_ row: Row, job: Int64, in db: Database) throws {
        try db.execute(
            sql: "UPDATE folding SET isPending = 0 WHERE job = ? AND author = ? AND sequence = ? AND replica = ?",
            arguments: [
                job, row.author.replica.value.blob, row.author.sequence.signed, row.journal.replica.value.blob,
            ])
    }

    /// Notes a stub that a peer sent, with those just before it; `explain` takes those back that a fold names.
    static func noteStub(_ run: ClosedRange<UInt64>, of journal: JournalKey, in db: Database) throws {
        let replica = journal.replica.value.blob
        let extend = try db.cachedStatement(
            sql: "UPDATE unexplained SET last = ? WHERE job = ? AND replica = ? AND last = ?")
        try extend.execute(arguments: [
            run.upperBound.signed, journal.job, replica, run.lowerBound.signed - 1,
        ])
        guard db.changesCount == 0 else { return }
        try db.execute(
            sql: "INSERT OR REPLACE INTO unexplained (job, replica, first, last) VALUES (?, ?, ?, ?)",
            arguments: [journal.job, replica, run.lowerBound.signed, run.upperBound.signed])
    }

    /// Forgets stubs that the known folds, or the removal of the job, explain.
    static func explain(_ job: Int64, in db: Database) throws {
        let stubs = try GRDB.Row.fetchAll(
            db.cachedStatement(sql: "SELECT replica, first, last FROM unexplained WHERE job = ?"), arguments: [job])
        guard !stubs.isEmpty else { return }
        let removal = try StatementTable.roster(of: job, in: db).removal
        var runs: [ReplicaID: [ClosedRange<UInt64>]] = [:]
        for row in try rows(of: job, pendingOnly: false, in: db) {
            runs[row.journal.replica, default: []] += row.journal.runs.map(\.span)
        }
        for (replica, known) in runs { runs[replica] = known.joined }
        for stub in stubs {
            let replica = ReplicaID(UInt128(blob: stub["replica"]))
            let run = UInt64(bitPattern: stub["first"])...UInt64(bitPattern: stub["last"])
            let named = runs[replica]?.contains { $0.contains(run.lowerBound) && $0.contains(run.upperBound) }
            guard named == true || run.upperBound <= removal?[of: replica] ?? 0 else { continue }
            try db.execute(
                sql: "DELETE FROM unexplained WHERE job = ? AND replica = ? AND first = ?",
                arguments: [job, replica.value.blob, run.lowerBound.signed])
        }
    }
}

/// Where the records stand that have to be folded, for which the laptops say what they hold: tombstones, and what was
/// written on an item that is removed or gone by then. Nobody says hold for what is written before a tombstone: it is
/// held by whoever holds the author's next hold.
enum TombstoneTable {
    static func add(_ item: ItemID, at dot: Dot, job: Int64, in db: Database) throws {
        let insert = try db.cachedStatement(
            sql: "INSERT INTO tombstone (job, replica, sequence, item) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
        try insert.execute(arguments: [job, dot.replica.value.blob, dot.sequence.signed, item.value.blob])
    }

    /// The last such record of a journal up to a sequence.
    static func last(of journal: JournalKey, atMost sequence: UInt64, in db: Database) throws -> UInt64? {
        let statement = try db.cachedStatement(
            sql: "SELECT max(sequence) FROM tombstone WHERE job = ? AND replica = ? AND sequence <= ?")
        let arguments: StatementArguments = [
            journal.job, journal.replica.value.blob, Int64(clamping: sequence),
        ]
        return try Int64.fetchOne(statement, arguments: arguments).map { UInt64(bitPattern: $0) }
    }

    /// Items with such a record up to the given positions, ascending.
    static func items(job: Int64, within stable: [Position], in db: Database) throws -> [ItemID] {
        var items: Set<ItemID> = []
        for position in stable {
            let rows = try Data.fetchAll(
                db.cachedStatement(sql: "SELECT item FROM tombstone WHERE job = ? AND replica = ? AND sequence <= ?"),
                arguments: [job, position.replica.value.blob, Int64(clamping: position.sequence)])
            for row in rows { items.insert(ItemID(UInt128(blob: row))) }
        }
        return items.sorted()
    }

    /// Whether one of them is about an item that is gone.
    static func hasGone(job: Int64, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM tombstone JOIN gone USING (job, item) WHERE tombstone.job = ?)")
        return try Bool.fetchOne(statement, arguments: [job]) ?? false
    }

    static func remove(_ journal: JournalKey, at sequence: UInt64, in db: Database) throws {
        let delete = try db.cachedStatement(
            sql: "DELETE FROM tombstone WHERE job = ? AND replica = ? AND sequence = ?")
        try delete.execute(arguments: [journal.job, journal.replica.value.blob, sequence.signed])
    }
}
