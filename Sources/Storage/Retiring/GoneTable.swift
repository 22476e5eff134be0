import CRDT
import GRDB

/// The items that folds name: nothing counts that was or will be written on them, whoever did (rules R2, R10).
struct GoneTable {
    private let job: Int64
    private let select: RawStatement

    /// Nil where nothing is gone: nearly always, and one look says so.
    init?(job: Int64, in db: Database) throws {
        let isEmpty = try db.cachedStatement(sql: "SELECT NOT EXISTS (SELECT 1 FROM gone WHERE job = ?)")
        if try Bool.fetchOne(isEmpty, arguments: [job]) ?? true { return nil }
        self.job = job
        select = try RawStatement("SELECT item FROM gone WHERE job = ?1 AND item = ?2", in: db)
    }

    func holds(_ item: ItemID) throws -> Bool {
        try withUnsafeBytes(of: item.value.bigEndian) { id in
            try select.bind(job, id)
            return try select.firstBlob { _ in true } ?? false
        }
    }

    static func add(_ items: [ItemID], job: Int64, in db: Database) throws {
        let insert = try db.cachedStatement(
            sql: "INSERT INTO gone (job, item) VALUES (?, ?) ON CONFLICT DO NOTHING")
        // The job's own item is never removed, whatever a fold names.
        for item in items where item != .job { try insert.execute(arguments: [job, item.value.blob]) }
    }
}
