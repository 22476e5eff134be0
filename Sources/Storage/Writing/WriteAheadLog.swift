import GRDB
import GRDBSQLite
import Synchronization

/// How long the write-ahead log of a connection is, so that it is moved home after a commit instead of in it.
///
/// SQLite does it by itself within the commit that makes the log too long, and its caller waits for the copying: one edit in
/// some hundred, which is what their 99th percentile told.
final class WriteAheadLog: Sendable {
    /// Pages of 8 KiB: 4 MiB, of which whoever writes next waits for the copying.
    static let longest = 500

    private let pages = Atomic<Int>(0)

    /// From now on the log is moved home by `moveHomeIfLong` only.
    func watch(_ db: Database) {
        // Lives as long as the process: when the connection ends, nobody is told.
        let context = Unmanaged.passRetained(self).toOpaque()
        sqlite3_wal_hook(
            db.sqliteConnection,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                let log = Unmanaged<WriteAheadLog>.fromOpaque(context).takeUnretainedValue()
                log.pages.store(Int(pages), ordering: .relaxed)
                return SQLITE_OK
            }, context)
    }

    /// Without waiting for readers; what fails is tried again after the next commit, as SQLite does.
    func moveHomeIfLong(_ db: Database) {
        guard pages.exchange(0, ordering: .relaxed) >= Self.longest else { return }
        // As a statement: of a connection that has been closed meanwhile SQLite refuses it.
        _ = try? Row.fetchAll(db, sql: "PRAGMA wal_checkpoint(PASSIVE)")
    }
}
