package import CRDT
import GRDB
package import Inventory
import Outbox

/// An item and what is known of it.
package struct StoredItem: Hashable, Sendable {
    /// The item; `ItemID.job` for the job's own.
    package let id: ItemID
    /// Its registers and remarks, which it keeps when it is removed.
    package let state: ItemState

    /// Takes a state that was read, or merged, for that item.
    package init(id: ItemID, state: ItemState) {
        self.id = id
        self.state = state
    }
}

/// A job as the store counts it.
package struct StoredJob: Hashable, Sendable {
    /// The id that all devices know it by.
    package let id: JobID
    /// The job's own properties (`JobProperty`).
    package let properties: ItemState
    /// What the server has said of it.
    package let published: [FieldName: String]
    /// How many items are not removed, without the job's own; 0 once the job is removed.
    package let items: Int
    /// How many items are removed; 0 once the job is.
    package let removed: Int
    /// How many fields have concurrent writes that nobody has settled, in the items and in the job's own.
    package let conflicts: Int
    /// How far its journals are held; of a removed job no less than its removers held them.
    package let vector: VersionVector
    /// Another one whenever something of the job has changed: see `WriteCondition`.
    package let tag: String
    /// What it was called; nil while it lives.
    package let removedName: String?

    /// Whether the job has ended as a whole (rule R10).
    package var isRemoved: Bool { removedName != nil }
    /// As somebody has renamed it last; else as the office calls it, or else whoever created it here.
    package var name: String {
        let given = properties.value(of: JobProperty.name)
        let isRenamed = properties.value(of: JobProperty.renamed) != nil
        return removedName ?? (isRenamed ? given : nil) ?? published[.jobName] ?? given ?? id.text
    }
    /// What it is for, as the office says or else whoever created it.
    package var kind: JobKind {
        (published[.jobKind] ?? properties.value(of: JobProperty.kind)).flatMap(JobKind.init(rawValue:)) ?? .inventory
    }
}

extension Store {
    /// Every job, removed ones too, by id.
    package func jobs() async throws -> [StoredJob] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM job ORDER BY id").compactMap { try Self.job($0, in: db) }
        }
    }

    /// Looks a job up, be it removed.
    ///
    /// - Throws: `StoreError.Code.unknownJob` when nothing is known of it.
    package func job(_ job: JobID) async throws -> StoredJob {
        try await read { db in
            guard let found = try Self.job(job, in: db) else { throw StoreError.unknownJob(job) }
            return found
        }
    }

    static func job(_ job: JobID, in db: Database) throws -> StoredJob? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM job WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [job.text]).flatMap { try Self.job($0, in: db) }
    }

    private static func job(_ row: Row, in db: Database) throws -> StoredJob? {
        guard let id = JobID(row["id"] as String) else { return nil }
        let rows = JobRows(row["number"], in: db)
        return StoredJob(
            id: id, properties: try rows.item(.job) ?? ItemState(),
            published: try rows.published(), items: row["items"], removed: row["removed"],
            conflicts: row["conflicts"], vector: try rows.vector(),
            tag: try rows.tag(), removedName: row["isRemoved"] as Bool ? row["name"] : nil)
    }

    /// One item; nil when nothing is known of it.
    package func item(_ item: ItemID, job: JobID) async throws -> ItemState? {
        try await read(of: job) { try $0.item(item) }
    }

    /// Of these items those that something is known of, and whether they are removed; looked up at once.
    package func removals(among items: [ItemID], job: JobID) async throws -> [ItemID: Bool] {
        guard !items.isEmpty else { return [:] }
        return try await read(of: job) { rows in
            var known: [ItemID: Bool] = [:]
            for item in items { known[item] = try rows.item(item).map { $0.removed != nil } }
            return known
        }
    }

    /// Items in ascending order after `after`: at most `limit`, and no more once their texts have `sufficientBytes`.
    package func items(
        job: JobID, after: ItemID = .job, limit: Int, sufficientBytes: Int = .max, withRemoved: Bool = true
    ) async throws -> [StoredItem] {
        try await read(of: job) { rows in
            var items: [StoredItem] = []
            var bytes = 0
            try rows.forEachItem(after: after) { id, state in
                guard withRemoved || state.removed == nil else { return true }
                items.append(StoredItem(id: id, state: state))
                bytes += state.fields.reduce(0) { $0 + ($1.register.winner?.value.utf8.count ?? 0) }
                bytes += state.remarks.reduce(0) { $0 + $1.text.utf8.count }
                return items.count < limit && bytes < sufficientBytes
            }
            return items
        }
    }

    /// Up to `limit` ids that begin or end with the given hexadecimal digits, in ascending order. Those of the job are looked
    /// through: some milliseconds for 100,000 items.
    ///
    /// - Parameter areRemoved: looks among the removed items alone.
    package func items(
        job: JobID, abbreviated digits: String, areRemoved: Bool = false, limit: Int
    ) async throws -> [ItemID] {
        guard let ids = ClosedRange<UInt128>(hexadecimalPrefix: digits) else { return [] }
        return try await read(of: job) { rows in
            let found = try Row.fetchCursor(
                rows.db,
                sql: """
                    SELECT id FROM item WHERE job = ? AND (id BETWEEN ? AND ? OR hex(id) LIKE '%' || ?) AND id <> ?
                    ORDER BY id
                    """,
                arguments: [rows.number, ids.lowerBound.blob, ids.upperBound.blob, digits, ItemID.job.value.blob])
            var fitting: [ItemID] = []
            while fitting.count < limit, let row = try found.next() {
                let id = ItemID(UInt128(blob: row["id"]))
                if try !areRemoved || rows.item(id)?.removed != nil { fitting.append(id) }
            }
            return fitting
        }
    }

    /// Items whose fields have concurrent writes, ascending; the job's own may be among them.
    package func conflicts(job: JobID) async throws -> [StoredItem] {
        try await read(of: job) { rows in
            try rows.itemsWithConflicts().compactMap { id in
                try rows.item(id).map { StoredItem(id: id, state: $0) }
            }
        }
    }
}
