import GRDB
import GRDBSQLite
import Synchronization

/// Copies the write-ahead log into the database's file before it gets long, beside those who write.
///
/// SQLite by itself does it within the commit that makes the log too long, whose caller waits for the copying and two more
/// flushes. A connection of its own does it while others write (sqlite.org/wal.html, "Avoiding Excessively Large WAL Files").
/// Between two of its flushes there has to be a moment without a commit, or else the log goes on growing. Where batches come one
/// after another there is none, and two that write to one disk hinder each other: there the writer does it, as SQLite would.
final class WriteAheadLog: Sendable {
    /// Pages of 8 KiB, 4 MiB, from one copying to the next.
    static let step = 500
    /// From here on the writer copies it in any case, and who writes next waits.
    static let longest = 4 * step
    /// Pages of a commit, on average, from which on it is batches that make the log long; an edit has some eight.
    private static let batch = 32

    /// What the writer's connection tells of. It lives as long as the process, since nobody tells it of the connection's end.
    private final class Length: Sendable {
        let pages = Atomic<Int>(0)
    }

    private struct Copying {
        /// Nil in memory, and once the store is closed.
        var connection: DatabaseQueue?
        var isUnderWay = false
        /// The log's length when the last one began, and the commits since.
        var begunAt = 0
        var commits = 0

        /// A commit has made the log so long.
        ///
        /// - Returns: whether the writer has to copy it, or the connection that has to; nil when there is time.
        mutating func committed(_ pages: Int) -> (byWriter: Bool, connection: DatabaseQueue?)? {
            if pages < begunAt { (begunAt, commits) = (0, 0) }
            commits += 1
            let grown = pages - begunAt
            guard grown >= step || pages >= longest else { return nil }
            let isOfBatches = grown >= commits * batch
            defer { (begunAt, commits) = (pages, 0) }
            guard !isOfBatches, pages < longest, !isUnderWay, let connection else { return (true, nil) }
            isUnderWay = true
            return (false, connection)
        }
    }

    private let length = Length()
    private let copying = Mutex(Copying())

    /// From now on the log is copied by this only.
    ///
    /// - Parameters:
    ///   - writer: the connection that writes.
    ///   - connection: another one to the same file.
    func watch(_ writer: Database, copyingBy connection: DatabaseQueue) {
        copying.withLock { $0.connection = connection }
        sqlite3_wal_hook(
            writer.sqliteConnection,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                let length = Unmanaged<Length>.fromOpaque(context).takeUnretainedValue()
                length.pages.store(Int(pages), ordering: .relaxed)
                return SQLITE_OK
            }, Unmanaged.passRetained(length).toOpaque())
    }

    /// To be called by the writer after each commit, its callers being answered. What fails is tried again later.
    func committed(_ writer: Database) {
        // Once: what is no commit does not make it longer.
        let pages = length.pages.exchange(0, ordering: .relaxed)
        guard let due = copying.withLock({ $0.committed(pages) }) else { return }
        if due.byWriter { Self.copy(writer) }
        due.connection?.asyncWriteWithoutTransaction { [weak self] db in
            Self.copy(db)
            self?.copying.withLock { $0.isUnderWay = false }
        }
    }

    /// Copies what there is, beside those who write; returns when that is done.
    func copyNow() async throws {
        guard let connection = copying.withLock({ $0.connection }) else { return }
        try await connection.writeWithoutTransaction { Self.copy($0) }
    }

    /// Waits for a copying that is under way. The last connection to be closed copies the rest.
    func close() throws {
        try copying.withLock { copying in
            defer { copying.connection = nil }
            return copying.connection
        }?.close()
    }

    /// Waits for nobody: neither for readers nor for another copying.
    private static func copy(_ db: Database) {
        // As a statement: of a connection that has been closed meanwhile SQLite refuses a statement, and dereferences a null
        // pointer in sqlite3_wal_checkpoint_v2.
        _ = try? Row.fetchAll(db, sql: "PRAGMA wal_checkpoint(PASSIVE)")
    }
}
