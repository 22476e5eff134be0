import CRDT
import Foundation
import GRDB

/// What the journals of a job say about it as a whole: an index of them, so that nobody reads a journal for it.
enum StatementTable {
    /// Whether a job has cuts, and folds that wait for what they name: nearly never, and one look says so.
    static func isPlain(_ job: Int64, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT NOT EXISTS (SELECT 1 FROM statement WHERE job = ?1 AND isCut)
                    AND NOT EXISTS (SELECT 1 FROM unexplained WHERE job = ?1)
                """)
        return try Bool.fetchOne(statement, arguments: [job]) ?? true
    }

    static func isRemoved(_ job: Int64, in db: Database) throws -> Bool {
        guard try !isPlain(job, in: db) else { return false }
        return try roster(of: job, in: db).removal != nil
    }

    static func roster(of job: Int64, in db: Database) throws -> Roster {
        let mark = try mark(of: job, in: db)
        if let mark, let roster = RosterCache.shared[mark] { return roster }
        let roster = try decodedRoster(of: job, in: db)
        if let mark { RosterCache.shared.keep(roster, as: mark) }
        return roster
    }

    /// What stands for the statements of a job as they are now (see `RosterCache`); nil while there are none.
    static func mark(of job: Int64, in db: Database) throws -> Int64? {
        let statement = try db.cachedStatement(sql: "SELECT statementMark FROM job WHERE number = ?")
        return try Int64.fetchOne(statement, arguments: [job]).flatMap { $0 == 0 ? nil : $0 }
    }

    /// To be called in each transaction that changes the statements.
    private static func renewMark(of job: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(sql: "UPDATE job SET statementMark = random() WHERE number = ?")
        try statement.execute(arguments: [job])
    }

    private static func decodedRoster(of job: Int64, in db: Database) throws -> Roster {
        var roster = Roster()
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: "SELECT replica, sequence, record FROM statement WHERE job = ? ORDER BY replica, sequence"),
            arguments: [job])
        while let row = try rows.next() {
            let replica = ReplicaID(UInt128(blob: row["replica"]))
            let dot = Dot(replica: replica, sequence: UInt64(bitPattern: row["sequence"]))
            let bytes = try row.withUnsafeData(named: "record") { $0.map { [UInt8]($0) } ?? [] }
            RosterCache.shared.countDecoding()
            for change in try ChangeCodec.decodeAll(bytes) {
                for operation in change.operations { roster.add(operation, at: dot) }
            }
        }
        return roster
    }

    /// The server is on no roster: what it says to hold decides nothing, and it says so often. One hold ends the late work
    /// that it has re-issued: that names the channel itself.
    static func concernsRoster(_ operation: CRDT.Operation, in replica: ReplicaID) -> Bool {
        guard operation.isStatement, !operation.concernsServer else { return false }
        if replica == .channel, case .hold(let positions) = operation {
            return positions.contains { $0.replica == .channel }
        }
        return true
    }

    /// Notes the statements of a change whose first transform has the given dot.
    ///
    /// - Returns: each statement with its own dot.
    static func note(_ change: Change, at first: Dot, job: Int64, in db: Database) throws -> [(CRDT.Operation, Dot)] {
        var noted: [(CRDT.Operation, Dot)] = []
        for (index, operation) in change.operations.enumerated() where concernsRoster(operation, in: first.replica) {
            let dot = Dot(replica: first.replica, sequence: first.sequence + UInt64(index))
            noted.append((operation, dot))
            var kept = operation
            var isCut = true
            switch operation {
            case .fold(let fold):
                // What it folds is kept apart: a roster needs the cut alone.
                kept = .fold(Fold(bounds: fold.bounds, members: fold.members, items: [], journals: []))
                try FoldingTable.add(fold, at: dot, job: job, in: db)
            case .hold, .decide: isCut = false
            default: break
            }
            let record = ChangeCodec.encode(Change(item: .job, stamp: change.stamp, operations: [kept]))
            try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO statement (job, replica, sequence, isCut, record) VALUES (?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [job, dot.replica.value.blob, dot.sequence.signed, isCut, Data(record)])
        }
        if !noted.isEmpty { try renewMark(of: job, in: db) }
        return noted
    }

    /// Makes the index anew from the journals, after one of them got another content.
    static func rebuild(_ job: Int64, in db: Database) throws {
        try RequestTable.clear(job, in: db)
        for table in ["statement", "folding", "gone", "unexplained"] {
            try db.cachedStatement(sql: "DELETE FROM \(table) WHERE job = ?").execute(arguments: [job])
        }
        try renewMark(of: job, in: db)
        try SegmentReader.forEach(job: job, in: db) { scanned, buffer, dot in
            if let stub = scanned.stub {
                let last = dot.sequence + stub.count - 1
                try FoldingTable.noteStub(
                    dot.sequence...last, of: JournalKey(job: job, replica: dot.replica), in: db)
            } else if scanned.statementCount > 0 {
                let change = ChangeCodec.decode(scanned, in: buffer)
                _ = try note(change, at: dot, job: job, in: db)
                try RequestTable.note(change, at: dot, job: job, in: db)
            }
        }
        try FoldingTable.explain(job, in: db)
    }
}

/// All records of a job's journals, one segment in memory at a time.
enum SegmentReader {
    /// - Parameter body: gets each record with the dot of its first transform.
    static func forEach(
        job: Int64, in db: Database, _ body: (ScannedChange, UnsafeRawBufferPointer, Dot) throws -> Void
    ) throws {
        let rowids = try Int64.fetchAll(
            db.cachedStatement(sql: "SELECT rowid FROM segment WHERE job = ? ORDER BY replica, last"), arguments: [job])
        for rowid in rowids {
            guard
                let row = try Row.fetchOne(
                    db.cachedStatement(sql: "SELECT replica, first, bytes FROM segment WHERE rowid = ?"),
                    arguments: [rowid])
            else { continue }
            let replica = ReplicaID(UInt128(blob: row["replica"]))
            var sequence = UInt64(bitPattern: row["first"])
            let bytes = try row.withUnsafeData(named: "bytes") { $0.map { [UInt8]($0) } ?? [] }
            try ChangeCodec.forEach(bytes) { scanned, buffer in
                try body(scanned, buffer, Dot(replica: replica, sequence: sequence))
                sequence += UInt64(scanned.operationCount)
            }
        }
    }
}
