import CRDT
import GRDB

/// The rows of `job`.
enum JobTable {
    static func number(of job: JobID, in db: Database) throws -> Int64? {
        let statement = try db.cachedStatement(sql: "SELECT number FROM job WHERE id = ?")
        return try Int64.fetchOne(statement, arguments: [job.text])
    }

    static func id(of number: Int64, in db: Database) throws -> JobID? {
        try String.fetchOne(db.cachedStatement(sql: "SELECT id FROM job WHERE number = ?"), arguments: [number]).flatMap
        { JobID($0) }
    }

    static func existingNumber(of job: JobID, in db: Database) throws -> Int64 {
        guard let number = try number(of: job, in: db) else { throw StoreError.unknownJob(job) }
        return number
    }

    /// The number of the job, which is entered when it is new here.
    static func numberAddingIfNew(_ job: JobID, in db: Database) throws -> Int64 {
        if let number = try number(of: job, in: db) { return number }
        try db.execute(sql: "INSERT INTO job (id) VALUES (?)", arguments: [job.text])
        return db.lastInsertedRowID
    }

    static func add(_ counts: ItemCounts, to job: Int64, in db: Database) throws {
        guard counts != ItemCounts() else { return }
        let statement = try db.cachedStatement(
            sql: "UPDATE job SET items = items + ?, removed = removed + ?, conflicts = conflicts + ? WHERE number = ?")
        try statement.execute(arguments: [counts.items, counts.removed, counts.conflicts, job])
    }

    static func areBarcodesIndexed(_ job: Int64, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT barcodesAreIndexed FROM job WHERE number = ?")
        return try Bool.fetchOne(statement, arguments: [job]) ?? false
    }

    static func setBarcodesIndexed(_ isIndexed: Bool, job: Int64, in db: Database) throws {
        try db.execute(sql: "UPDATE job SET barcodesAreIndexed = ? WHERE number = ?", arguments: [isIndexed, job])
    }
}

/// What a batch of changes adds to a job's counters.
struct ItemCounts: Hashable {
    var items = 0
    var removed = 0
    var conflicts = 0
}
