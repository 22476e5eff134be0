import CRDT
import GRDB

/// Whether the job has ended, with what its removers held of it; and which of its late changes a person has dealt with.
extension JobRows {
    func isRemoved() throws -> Bool {
        let statement = try RawStatement("SELECT isRemoved FROM job WHERE number = ?", in: db)
        return try statement.first(.number(number)) { $0.number(0) != 0 } ?? false
    }

    func removal() throws -> JobRemoval? {
        guard try isRemoved() else { return nil }
        let name = try String.fetchOne(
            db.cachedStatement(sql: "SELECT name FROM job WHERE number = ?"), arguments: [number])
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT replica, sequence, digest FROM removal WHERE job = ? ORDER BY replica"),
            arguments: [number])
        let entries = rows.map {
            VersionVector.Entry(replica: ReplicaID(UInt128(blob: $0["replica"])), head: JournalHead(row: $0))
        }
        return JobRemoval(name: name ?? "", heads: VersionVector(entries))
    }

    func setRemoval(_ removal: JobRemoval) throws {
        try db.execute(
            sql: "UPDATE job SET isRemoved = 1, name = ? WHERE number = ?", arguments: [removal.name, number])
        let insert = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO removal (job, replica, sequence, digest) VALUES (?, ?, ?, ?)")
        for entry in removal.heads.entries {
            try insert.execute(arguments: [
                number, entry.replica.value.blob, entry.head.sequence.signed, entry.head.digest.blob,
            ])
        }
    }

    // MARK: Late changes

    func noteDecided(_ changes: [ChangeIdentity]) throws {
        let insert = try db.cachedStatement(
            sql: "INSERT INTO decided (job, change) VALUES (?, ?) ON CONFLICT DO NOTHING")
        for change in changes { try insert.execute(arguments: [number, change.value.signed]) }
    }

    func decidedChanges() throws -> Set<ChangeIdentity> {
        let rows = try Int64.fetchAll(
            db.cachedStatement(sql: "SELECT change FROM decided WHERE job = ?"), arguments: [number])
        return Set(rows.map { ChangeIdentity(UInt64(bitPattern: $0)) })
    }
}

extension JournalRows {
    /// Up to where it went with its job; empty while the job lives.
    func removedHead() throws -> JournalHead {
        let statement = try db.cachedStatement(
            sql: "SELECT sequence, digest FROM removal WHERE job = ? AND replica = ?")
        let row = try Row.fetchOne(statement, arguments: [job.number, replica.value.blob])
        return row.map(JournalHead.init(row:)) ?? .empty
    }

    // MARK: Doubt

    /// Of a name that this store gives up, since it was found to be set back or copied: what is held of its journals may be a
    /// branch that nobody else knows, until one more run fits to it (rule R9).
    static func doubtAll(of replica: ReplicaID, in db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO doubtful (job, replica) SELECT job, replica FROM journal WHERE replica = ?
                ON CONFLICT DO NOTHING
                """, arguments: [replica.value.blob])
    }

    func isDoubtful() throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM doubtful WHERE job = ? AND replica = ?)")
        return try Bool.fetchOne(statement, arguments: [job.number, replica.value.blob]) ?? false
    }

    func endDoubt() throws {
        try RawStatement("DELETE FROM doubtful WHERE job = ? AND replica = ?", in: db)
            .run(.number(job.number), .id(replica.value))
    }
}
