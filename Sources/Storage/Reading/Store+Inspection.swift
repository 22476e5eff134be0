package import CRDT
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

    package func journalMode() async throws -> String {
        try await read { try String.fetchOne($0, sql: "PRAGMA journal_mode") ?? "" }
    }

    package func segmentCount() async throws -> Int {
        try await read { try Int.fetchOne($0, sql: "SELECT count(*) FROM segment") ?? 0 }
    }

    /// What SQLite finds wrong with the file; empty when it is sound.
    package func integrityProblems() async throws -> [String] {
        try await read { try String.fetchAll($0, sql: "PRAGMA integrity_check").filter { $0 != "ok" } }
    }

    /// The same without comparing indexes with their tables, which takes most of the time; the first few problems.
    package func quickProblems() async throws -> [String] {
        try await read { try String.fetchAll($0, sql: "PRAGMA quick_check(3)").filter { $0 != "ok" } }
    }

    /// Whether a job is complete as far as anything was forgotten of it: no stub without its fold. Only then do equal
    /// vectors mean equal bytes; a newcomer is on the way there.
    package func holdsWhatFoldsName(of job: JobID) async throws -> Bool {
        try await read { db in
            let number = try JobTable.existingNumber(of: job, in: db)
            let isWaiting = try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM unexplained WHERE job = ?)"), arguments: [number])
            return isWaiting != true
        }
    }

    /// How many folds this store has heard of.
    package func foldCount(of job: JobID) async throws -> Int {
        try await read { db in
            let number = try JobTable.existingNumber(of: job, in: db)
            return try Int.fetchOne(
                db.cachedStatement(
                    sql: "SELECT count(*) FROM (SELECT DISTINCT author, sequence FROM folding WHERE job = ?)"),
                arguments: [number]) ?? 0
        }
    }
}
