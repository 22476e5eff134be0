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
        let number = try nextNumber(in: db)
        try db.execute(sql: "INSERT INTO job (number, id) VALUES (?, ?)", arguments: [number, job.text])
        return number
    }

    /// A number under which no table has a row.
    static func nextNumber(in db: Database) throws -> Int64 {
        let last = try Int64.fetchOne(
            db,
            sql: """
                SELECT max(ifnull((SELECT max(number) FROM job), 0), ifnull((SELECT max(number) FROM garbage), 0))
                """)
        return (last ?? 0) + 1
    }

    /// The greatest credible anchor of what was taken in.
    static func seenAnchor(of job: Int64, in db: Database) throws -> UInt64 {
        let statement = try db.cachedStatement(sql: "SELECT anchor FROM job WHERE number = ?")
        return UInt64(bitPattern: try Int64.fetchOne(statement, arguments: [job]) ?? 0)
    }

    static func raiseAnchor(to anchor: UInt64, of job: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(sql: "UPDATE job SET anchor = ?1 WHERE number = ?2 AND anchor < ?1")
        try statement.execute(arguments: [Int64(clamping: anchor), job])
    }

    static func add(_ counts: ItemCounts, to job: Int64, in db: Database) throws {
        guard counts != ItemCounts() else { return }
        let statement = try db.cachedStatement(
            sql: "UPDATE job SET items = items + ?, removed = removed + ?, conflicts = conflicts + ? WHERE number = ?")
        try statement.execute(arguments: [counts.items, counts.removed, counts.conflicts, job])
    }
}

/// What a batch of changes adds to a job's counters.
struct ItemCounts: Hashable {
    var items = 0
    var removed = 0
    var conflicts = 0
}
