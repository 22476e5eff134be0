import GRDB
import GRDBSQLite
import Synchronization

/// When the write-ahead log is copied into the database's file: after a commit, its callers being answered.
///
/// SQLite by itself does it within the commit that makes the log too long, whose caller waits for the copying and two more
/// flushes. Only the connection that writes does it: in SQLite before 3.51.3 a second one that copies at the moment at which the
/// log begins anew can lose commits (sqlite.org/wal.html, "The WAL-Reset Bug").
final class WriteAheadLog: Sendable {
    /// Pages of 4 KiB, 4 MiB, after which it is copied where batches made it long: their copying is long in itself.
    static let step = 1_000
    /// Where edits did, whoever comes meanwhile waits for two flushes more than for its own: that has to be seldom.
    static let longest = 4 * step
    /// Beyond that whoever reads one state for long has to give it up, 256 MiB: until then the log cannot begin anew.
    static let mostPages = 64 * step
    /// Pages of a commit, on average, from which on it is batches; an edit has some five.
    private static let batch = 64

    /// What the connection tells of. It lives as long as the process, since nobody tells it of the connection's end.
    private final class Length: Sendable {
        let pages = Atomic<Int>(0)
    }

    private struct Growth {
        var pages = 0
        var commits = 0
    }

    private let length = Length()
    /// States of the store that are read for long.
    let leases = SnapshotLeases()
    /// As `mostPages`; less for a test.
    let limit = Atomic<Int>(mostPages)
    /// Since the log began anew.
    private let growth = Mutex(Growth())

    /// From now on the log of this connection is copied by `committed` only.
    func watch(_ writer: Database) {
        sqlite3_wal_hook(
            writer.sqliteConnection,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                let length = Unmanaged<Length>.fromOpaque(context).takeUnretainedValue()
                length.pages.store(Int(pages), ordering: .relaxed)
                return SQLITE_OK
            }, Unmanaged.passRetained(length).toOpaque())
    }

    /// To be called by the writer after each transaction. What fails is tried again after the next commit, as SQLite does.
    func committed(_ writer: Database) {
        // Zero where nothing was committed.
        let pages = length.pages.exchange(0, ordering: .relaxed)
        guard pages > 0, isDue(pages) else { return }
        if pages > limit.load(ordering: .relaxed) { leases.end() }
        // Without waiting for readers. As a statement: of a connection that has been closed meanwhile SQLite refuses it.
        _ = try? Row.fetchAll(writer, sql: "PRAGMA wal_checkpoint(PASSIVE)")
    }

    /// A commit has made the log so long. Copied, it begins anew with the next one.
    func isDue(_ pages: Int) -> Bool {
        growth.withLock { growth in
            if pages < growth.pages { growth = Growth() }
            growth.commits += 1
            let isOfBatches = pages >= growth.commits * Self.batch
            growth.pages = pages
            return pages >= (isOfBatches ? Self.step : Self.longest)
        }
    }
}
