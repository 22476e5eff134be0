import CRDT
import GRDB

/// Jobs that have ended, with what their removers held of them; and which of their late changes a person has dealt with.
enum RemovalTable {
    static func isRemoved(_ job: Int64, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT isRemoved FROM job WHERE number = ?")
        return try Bool.fetchOne(statement, arguments: [job]) ?? false
    }

    static func removal(of job: Int64, in db: Database) throws -> JobRemoval? {
        guard try isRemoved(job, in: db) else { return nil }
        let name = try String.fetchOne(
            db.cachedStatement(sql: "SELECT name FROM job WHERE number = ?"), arguments: [job])
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT replica, sequence, digest FROM removal WHERE job = ? ORDER BY replica"),
            arguments: [job])
        let entries = rows.map {
            VersionVector.Entry(replica: ReplicaID(UInt128(blob: $0["replica"])), head: JournalHead(row: $0))
        }
        return JobRemoval(name: name ?? "", heads: VersionVector(entries))
    }

    /// Up to where a journal went with its job; empty while the job lives.
    static func head(of journal: JournalKey, in db: Database) throws -> JournalHead {
        let statement = try db.cachedStatement(
            sql: "SELECT sequence, digest FROM removal WHERE job = ? AND replica = ?")
        let row = try Row.fetchOne(statement, arguments: [journal.job, journal.replica.value.blob])
        return row.map(JournalHead.init(row:)) ?? .empty
    }

    static func set(_ removal: JobRemoval, of job: Int64, in db: Database) throws {
        try db.execute(
            sql: "UPDATE job SET isRemoved = 1, name = ? WHERE number = ?", arguments: [removal.name, job])
        let insert = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO removal (job, replica, sequence, digest) VALUES (?, ?, ?, ?)")
        for entry in removal.heads.entries {
            try insert.execute(arguments: [
                job, entry.replica.value.blob, entry.head.sequence.signed, entry.head.digest.signed,
            ])
        }
    }

    // MARK: Late changes

    static func decide(_ changes: [ChangeIdentity], job: Int64, in db: Database) throws {
        let insert = try db.cachedStatement(
            sql: "INSERT INTO decided (job, change) VALUES (?, ?) ON CONFLICT DO NOTHING")
        for change in changes { try insert.execute(arguments: [job, change.value.signed]) }
    }

    static func decided(job: Int64, in db: Database) throws -> Set<ChangeIdentity> {
        let rows = try Int64.fetchAll(
            db.cachedStatement(sql: "SELECT change FROM decided WHERE job = ?"), arguments: [job])
        return Set(rows.map { ChangeIdentity(UInt64(bitPattern: $0)) })
    }
}

/// Journals of names that this store had before it was found to be set back or copied: what is held of them may be a branch
/// that nobody else knows, until one more run fits to it (rule R9).
enum DoubtTable {
    /// The store gives its name up.
    static func add(_ replica: ReplicaID, in db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO doubtful (job, replica) SELECT job, replica FROM journal WHERE replica = ?
                ON CONFLICT DO NOTHING
                """, arguments: [replica.value.blob])
    }

    static func holds(_ journal: JournalKey, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM doubtful WHERE job = ? AND replica = ?)")
        return try Bool.fetchOne(statement, arguments: [journal.job, journal.replica.value.blob]) ?? false
    }

    static func remove(_ journal: JournalKey, in db: Database) throws {
        let statement = try db.cachedStatement(sql: "DELETE FROM doubtful WHERE job = ? AND replica = ?")
        try statement.execute(arguments: [journal.job, journal.replica.value.blob])
    }
}
