import CRDT
import GRDB
import Inventory

/// What the tables hold of one job, as the open transaction sees it.
struct JobRows {
    /// Names the job in this store's tables; another one once the job has been removed.
    let number: Int64
    let db: Database

    /// Takes a number that was read in the same transaction.
    init(_ number: Int64, in db: Database) {
        self.number = number
        self.db = db
    }

    /// Nil when nothing is known of the job.
    init?(known job: JobID, in db: Database) throws {
        let statement = try RawStatement("SELECT number FROM job WHERE id = ?", in: db)
        guard let number = try statement.first(.text(job.text), body: { $0.number(0) }) else { return nil }
        self.init(number, in: db)
    }

    /// - Throws: `StoreError.Code.unknownJob` when nothing is known of the job.
    init(of job: JobID, in db: Database) throws {
        guard let known = try JobRows(known: job, in: db) else { throw StoreError.unknownJob(job) }
        self = known
    }

    /// Enters the job when it is new here.
    init(entering job: JobID, in db: Database) throws {
        if let known = try JobRows(known: job, in: db) {
            self = known
        } else {
            self.init(try Self.nextNumber(in: db), in: db)
            try db.execute(
                sql: "INSERT INTO job (number, id, cubicFeet, duplicates) VALUES (?, ?, 0, 0)",
                arguments: [number, job.text])
        }
    }

    /// A number under which no table has a row.
    static func nextNumber(in db: Database) throws -> Int64 {
        let last = try Int64.fetchOne(
            db,
            sql: """
                SELECT max(ifnull((SELECT max(number) FROM job), 0), ifnull((SELECT max(number) FROM garbage), 0),
                    ifnull((SELECT max(job) FROM formerJob), 0))
                """)
        return (last ?? 0) + 1
    }

    /// By which all devices know the job.
    func id() throws -> JobID? {
        try String.fetchOne(db.cachedStatement(sql: "SELECT id FROM job WHERE number = ?"), arguments: [number])
            .flatMap { JobID($0) }
    }

    /// The journal of one replica in this job, also where nothing is held of it.
    func journal(of replica: ReplicaID) -> JournalRows { JournalRows(job: self, replica: replica) }

    /// The server's journal.
    var channel: JournalRows { journal(of: .channel) }

    /// How far each journal is held.
    func vector() throws -> VersionVector {
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT replica, sequence, digest FROM journal WHERE job = ? ORDER BY replica"),
            arguments: [number])
        return VersionVector(
            rows.map {
                VersionVector.Entry(replica: ReplicaID(UInt128(blob: $0["replica"])), head: JournalHead(row: $0))
            })
    }

    /// The same without digests.
    func positions() throws -> [Position] {
        try vector().entries.map { Position(replica: $0.replica, sequence: $0.head.sequence) }
    }

    // MARK: Anchors

    /// The highest ordering id that is held, and no less than what was seen is anchored at (rule R7).
    func anchor() throws -> UInt64 {
        let statement = try RawStatement("SELECT anchor FROM job WHERE number = ?", in: db)
        let seen = UInt64(bitPattern: try statement.first(.number(number)) { $0.number(0) } ?? 0)
        let held = try channel.head().sequence
        return max(held, seen)
    }

    /// How many entries of the channel an author may be ahead: more than a busy job gets in a week.
    private static let credibleAnchors: UInt64 = 1 << 16

    /// An author may have held more of the channel than this store does, but not beyond all bounds: an absurd anchor drags
    /// nothing along.
    func raiseAnchor(to anchor: UInt64) throws {
        let channel = try channel.head().sequence
        guard anchor > channel, anchor <= channel + Self.credibleAnchors else { return }
        try RawStatement("UPDATE job SET anchor = ?1 WHERE number = ?2 AND anchor < ?1", in: db)
            .run(.number(Int64(clamping: anchor)), .number(number))
    }

    // MARK: Totals

    /// Adds what a batch of changes counted.
    func add(_ counts: ItemCounts) throws {
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
            counts.duplicateBarcodes, number,
        ])
    }

    /// What is kept of the totals.
    func keptTotals() throws -> KeptTotals {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT cubicFeet, duplicates FROM job WHERE number = ?"), arguments: [number])
        return row.map(KeptTotals.init) ?? KeptTotals(cubicFeet: nil, duplicateBarcodes: nil)
    }

    /// Notes what was added up; what is kept stays.
    func keep(_ totals: JobTotals) throws {
        try db.cachedStatement(
            sql: "UPDATE job SET cubicFeet = ifnull(cubicFeet, ?), duplicates = ifnull(duplicates, ?) WHERE number = ?"
        ).execute(arguments: [
            abs(totals.cubicFeet.rawValue) <= ItemCounts.largestVolume ? totals.cubicFeet.rawValue : nil,
            totals.duplicateBarcodes, number,
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
