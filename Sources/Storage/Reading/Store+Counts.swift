package import CRDT
import GRDB

extension Store {
    /// The stamp of the latest change of a job; nil for a job without any.
    package func lastStamp(of job: JobID) async throws -> Stamp? {
        try await read(of: job) { rows in
            try Int64.fetchOne(
                rows.db, sql: "SELECT max(stamp) FROM journal WHERE job = ?", arguments: [rows.number]
            )
            .map { Stamp(rawValue: UInt64(bitPattern: $0)) }
        }
    }

    /// Moves the write-ahead log into the database, without waiting for readers, and gives unused memory back.
    package func checkpoint() async throws {
        do {
            try await database.writeWithoutTransaction { db in
                // As a statement: of a connection that has been closed meanwhile SQLite refuses a statement, and
                // dereferences a null pointer in sqlite3_wal_checkpoint_v2.
                _ = try Row.fetchAll(db, sql: "PRAGMA wal_checkpoint(PASSIVE)")
                try db.execute(sql: "PRAGMA shrink_memory")
            }
            (database as? DatabasePool)?.releaseMemoryEventually()
        } catch {
            throw StoreError(error)
        }
    }
}
