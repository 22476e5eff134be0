import GRDB

/// A look at the store from outside, for tests and for the doctor.
extension Store {
    /// 2 is FULL: each commit is flushed to disk.
    package func synchronousSetting() async throws -> Int {
        do {
            return try await database.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") ?? -1 }
        } catch {
            throw StoreError(error)
        }
    }

    /// Asks SQLite for its journal mode: "wal" for a store in a file, "memory" for one in memory.
    package func journalMode() async throws -> String {
        try await read { try String.fetchOne($0, sql: "PRAGMA journal_mode") ?? "" }
    }

    /// Counts the rows that hold journals, of all jobs; what is left of removed ones counts until it is freed.
    package func segmentCount() async throws -> Int {
        try await read { try Int.fetchOne($0, sql: "SELECT count(*) FROM segment") ?? 0 }
    }

    /// What SQLite finds wrong with the file, and what its tables do not agree in; empty when it is sound.
    package func integrityProblems() async throws -> [String] {
        try await read { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
                + [TableAgreement.fault(in: db)].compactMap(\.self)
        }
    }

    /// The same without comparing indexes with their tables, which takes most of the time; the first few problems.
    package func quickProblems() async throws -> [String] {
        try await read { try String.fetchAll($0, sql: "PRAGMA quick_check(3)").filter { $0 != "ok" } }
    }

    /// How many rows the tables have that grow with the jobs.
    package func rowCounts() async throws -> [String: Int] {
        try await read { db in
            var counts: [String: Int] = [:]
            for table in ["barcode", "item", "segment"] {
                counts[table] = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)")
            }
            return counts
        }
    }
}

extension Store {
    /// How many rows belong to no job: what removed jobs have left and nothing has freed yet.
    package func orphanCount() async throws -> Int {
        try await read { db in
            try ["item", "barcode", "conflict", "segment", "journal", "unseen", "known"].reduce(0) { count, table in
                let orphans = "SELECT count(*) FROM \(table) WHERE job NOT IN (SELECT number FROM job)"
                return try count + (Int.fetchOne(db, sql: orphans) ?? 0)
            }
        }
    }
}
