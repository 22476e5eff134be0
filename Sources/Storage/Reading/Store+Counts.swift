package import CRDT
import GRDB

/// How many jobs a store knows, as everybody counts them.
package struct JobCounts: Hashable, Sendable {
    /// Those that live.
    package var living = 0
    /// Those that were removed and have late work; of the others only the id is left.
    package var removed = 0
}

extension Store {
    /// Counts the jobs that people see.
    package func jobCounts() async throws -> JobCounts {
        try await read { db in
            var counts = JobCounts()
            counts.living = try Int.fetchOne(db, sql: "SELECT count(*) FROM job WHERE NOT isRemoved") ?? 0
            for number in try Int64.fetchAll(db, sql: "SELECT number FROM job WHERE isRemoved") {
                if try !QuarantinedChanges(of: JobRows(number, in: db)).undecided.isEmpty { counts.removed += 1 }
            }
            return counts
        }
    }

    /// When a job was removed, by the earliest word of it that is held; nil while it lives, or where no journal says so.
    package func removalStamp(of job: JobID) async throws -> Stamp? {
        try await read(of: job) { rows in
            guard try rows.isRemoved() else { return nil }
            var earliest: Stamp?
            try rows.forEachRecord { scanned, buffer, _ in
                guard scanned.statementCount > 0 else { return }
                for case .removeJob in ChangeCodec.decode(scanned, in: buffer).operations {
                    earliest = min(earliest ?? scanned.stamp, scanned.stamp)
                }
            }
            return earliest
        }
    }

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
