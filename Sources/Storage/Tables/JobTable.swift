import CRDT
import GRDB
import Inventory

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
        try db.execute(
            sql: "INSERT INTO job (number, id, cubicFeet, duplicates) VALUES (?, ?, 0, 0)",
            arguments: [number, job.text])
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
        // NULL is unknown and stays it. A sum that might become too great for a column is not kept: who asks adds it up.
        let statement = try db.cachedStatement(
            sql: """
                UPDATE job SET items = items + ?, removed = removed + ?, conflicts = conflicts + ?,
                    cubicFeet = CASE WHEN abs(cubicFeet) <= ? THEN cubicFeet + ? END, duplicates = duplicates + ?
                WHERE number = ?
                """)
        try statement.execute(arguments: [
            counts.items, counts.removed, counts.conflicts, ItemCounts.largestVolume, counts.cubicFeet,
            counts.duplicateBarcodes, job,
        ])
    }

    /// What is kept of a job's totals.
    static func keptTotals(of job: Int64, in db: Database) throws -> KeptTotals {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT cubicFeet, duplicates FROM job WHERE number = ?"), arguments: [job])
        return row.map(KeptTotals.init) ?? KeptTotals(cubicFeet: nil, duplicateBarcodes: nil)
    }

    /// Notes what was added up; what is kept stays.
    static func keep(_ totals: JobTotals, of job: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE job SET cubicFeet = ifnull(cubicFeet, ?), duplicates = ifnull(duplicates, ?) WHERE number = ?"
        ).execute(arguments: [
            abs(totals.cubicFeet.rawValue) <= ItemCounts.largestVolume ? totals.cubicFeet.rawValue : nil,
            totals.duplicateBarcodes, job,
        ])
    }
}

/// What a batch of changes adds to a job's counters.
struct ItemCounts: Hashable {
    /// In thousandths of a cubic foot: less than half of what a column takes, so that a sum of two fits.
    static let largestVolume = 4_000_000_000_000_000_000

    var items = 0
    var removed = 0
    var conflicts = 0
    /// Nil when it is not known.
    var duplicateBarcodes: Int? = 0
    /// In thousandths; nil when it is too much.
    private(set) var cubicFeet: Int? = 0

    mutating func addVolume(_ more: Thousandths, instead less: Thousandths = .zero) {
        // Each is a trillion at most.
        guard let sum = cubicFeet.map({ $0 + (more.rawValue - less.rawValue) }), abs(sum) <= Self.largestVolume else {
            cubicFeet = nil
            return
        }
        cubicFeet = sum
    }
}

/// What a job's row knows of `JobTotals`: nil for what has to be added up.
struct KeptTotals {
    let cubicFeet: Thousandths?
    let duplicateBarcodes: Int?
}

extension KeptTotals {
    init(_ row: Row) {
        self.init(cubicFeet: (row["cubicFeet"] as Int?).map { Thousandths($0) }, duplicateBarcodes: row["duplicates"])
    }

    var totals: JobTotals? {
        guard let cubicFeet, let duplicateBarcodes else { return nil }
        return JobTotals(cubicFeet: cubicFeet, duplicateBarcodes: duplicateBarcodes)
    }
}
