import CRDT
import GRDB
import Inventory

/// What items of removed jobs were called, for people who decide about late work: their rows are gone by then.
struct FormerItemTable {
    /// In characters: enough to know an item by.
    private static let longestLabel = 80

    let db: Database

    /// Notes that a removed job has another number now.
    func move(from old: Int64, to new: Int64, isFirst: Bool) throws {
        try db.execute(sql: "UPDATE formerJob SET current = ? WHERE current = ?", arguments: [new, old])
        guard isFirst else { return }
        try db.execute(sql: "INSERT INTO formerJob (job, current) VALUES (?, ?)", arguments: [old, new])
    }

    // MARK: Freeing

    /// Whether what lies under a number is of one of the jobs that were removed last. Numbers only grow.
    func keeps(_ number: Int64, ofLast jobs: Int) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM (SELECT job FROM formerJob ORDER BY current DESC LIMIT ?) WHERE job = ?)
                """)
        return try Bool.fetchOne(statement, arguments: [jobs, number]) ?? false
    }

    /// Notes what the first items under a number are called.
    func note(_ count: Int, of job: JobRows) throws {
        let insert = try RawStatement(
            "INSERT INTO formerItem (job, item, label) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING", in: db)
        var left = count
        try job.forEachPackedItem { item, blob in
            if let label = try Self.label(in: blob) {
                try insert.run(.number(job.number), .id(item.value), .text(label))
            }
            left -= 1
            return left > 0
        }
    }

    /// The first removed of the jobs beyond so many; nil when there are no more.
    func oldest(beyond jobs: Int) throws -> Int64? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT job FROM (SELECT job, current FROM formerJob ORDER BY current DESC LIMIT -1 OFFSET ?)
                ORDER BY current LIMIT 1
                """)
        return try Int64.fetchOne(statement, arguments: [jobs])
    }

    /// To be called once no row of its items is left.
    func forget(_ job: Int64) throws {
        try db.execute(sql: "DELETE FROM formerJob WHERE job = ?", arguments: [job])
    }

    // MARK: Looking up

    /// The number under which a removed job lived, if that is still known.
    func formerNumber(of job: JobRows) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT job FROM formerJob WHERE current = ?"), arguments: [job.number])
    }

    /// What was noted of an item.
    func label(of item: ItemID, under number: Int64) throws -> String? {
        try String.fetchOne(
            db.cachedStatement(sql: "SELECT label FROM formerItem WHERE job = ? AND item = ?"),
            arguments: [number, item.value.blob])
    }

    private static func label(in blob: UnsafeRawBufferPointer) throws -> String? {
        let packed = try PackedItem(blob)
        // Of a removed item it tells nothing.
        let label = packed.isRemoved ? try ItemStateCodec.decode(blob).label : ItemLabel.of(packed.value(of:))
        return label.map { String($0.prefix(longestLabel)) }
    }
}
