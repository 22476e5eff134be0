import CRDT
import Foundation
import GRDB

/// Changes that are in their journals but not in the items, because their time has not come (rule R6).
enum HeldTable {
    struct Row {
        let journal: JournalKey
        let sequence: UInt64
        let stamp: Stamp
        let record: [UInt8]
    }

    static func add(
        _ record: UnsafeRawBufferPointer, stamp: Stamp, sequence: UInt64, of journal: JournalKey, in db: Database
    ) throws {
        try db.cachedStatement(
            sql:
                "INSERT INTO held (job, replica, sequence, stamp, record) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        ).execute(arguments: [
            journal.job, journal.replica.value.blob, sequence.signed, stamp.rawValue.signed, Data(record),
        ])
    }

    /// Holds what lies beyond a limit in a run of journal.
    static func hold(
        _ bytes: [UInt8], first: UInt64, beyond limit: Stamp, of journal: JournalKey, in db: Database
    ) throws {
        var sequence = first
        try ChangeCodec.forEach(bytes) { scanned, buffer in
            defer { sequence += UInt64(scanned.operationCount) }
            guard scanned.stamp > limit else { return }
            let record = UnsafeRawBufferPointer(rebasing: buffer[scanned.record])
            try add(record, stamp: scanned.stamp, sequence: sequence, of: journal, in: db)
        }
    }

    /// Takes back what was held of a journal after a sequence.
    static func remove(_ journal: JournalKey, after keep: UInt64, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM held WHERE job = ? AND replica = ? AND sequence > ?").execute(
            arguments: [journal.job, journal.replica.value.blob, keep.signed])
    }

    /// Removes and returns what is due, in order of stamps.
    static func takeDue(until limit: Stamp, in db: Database) throws -> [Row] {
        let due = try rows("WHERE stamp <= ? ORDER BY stamp, job, replica, sequence", [limit.rawValue.signed], in: db)
        if !due.isEmpty {
            try db.cachedStatement(sql: "DELETE FROM held WHERE stamp <= ?").execute(arguments: [limit.rawValue.signed])
        }
        return due
    }

    /// The stamp that is due next.
    static func next(in db: Database) throws -> Stamp? {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT min(stamp) FROM held")).map {
            Stamp(rawValue: UInt64(bitPattern: $0))
        }
    }

    /// What the held changes of a journal are about.
    static func items(of journal: JournalKey, in db: Database) throws -> Set<ItemID> {
        let held = try rows("WHERE job = ? AND replica = ?", [journal.job, journal.replica.value.blob], in: db)
        return try Set(held.flatMap { try ChangeCodec.decodeAll($0.record).map(\.item) })
    }

    static func dots(job: Int64, in db: Database) throws -> Set<Dot> {
        let rows = try GRDB.Row.fetchAll(
            db.cachedStatement(sql: "SELECT replica, sequence FROM held WHERE job = ?"), arguments: [job])
        return Set(
            rows.map {
                Dot(replica: ReplicaID(UInt128(blob: $0["replica"])), sequence: UInt64(bitPattern: $0["sequence"]))
            })
    }

    /// Where removals are held, in order of stamps.
    static func removals(job: Int64, in db: Database) throws -> [Dot] {
        try rows("WHERE job = ? ORDER BY stamp, replica, sequence", [job], in: db).compactMap { row in
            let isRemoval = try ChangeCodec.decodeAll(row.record).contains { $0.operations.contains(.remove) }
            return isRemoval ? Dot(replica: row.journal.replica, sequence: row.sequence) : nil
        }
    }

    static func rows(_ condition: String, _ arguments: StatementArguments, in db: Database) throws -> [Row] {
        try GRDB.Row.fetchAll(db.cachedStatement(sql: "SELECT * FROM held \(condition)"), arguments: arguments).map {
            row in
            Row(
                journal: JournalKey(job: row["job"], replica: ReplicaID(UInt128(blob: row["replica"]))),
                sequence: UInt64(bitPattern: row["sequence"]),
                stamp: Stamp(rawValue: UInt64(bitPattern: row["stamp"])), record: [UInt8](row["record"] as Data))
        }
    }
}
