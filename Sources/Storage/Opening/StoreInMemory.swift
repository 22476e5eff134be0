package import Authorship
package import CoreMetrics
import GRDB
import GRDBSQLite
import Synchronization

/// A store without a file, for a simulated world: the same tables and the same code, and no disk to wait for.
extension Store {
    /// Makes an empty store, or opens what `copy()` gave.
    ///
    /// - Parameters:
    ///   - contents: nil for an empty store.
    ///   - signer: what `takeUp` would be given.
    ///   - place: where it pretends to lie; elsewhere than it was last opened it is a copy (rule R9).
    package static func openInMemory(
        contents: [UInt8]? = nil, place: StorePlace, hostName: String, role: StoreRole = .laptop,
        signer: (any JournalSigner)? = nil, metrics: any MetricsFactory = NOOPMetricsHandler.instance,
        generator: inout some RandomNumberGenerator
    ) throws(StoreError) -> Store {
        do {
            var configuration = Configuration()
            configuration.label = "store"
            configuration.prepareDatabase { db in
                if let contents { try fill(db, with: contents) }
                try db.execute(sql: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
            }
            return try open(
                try DatabaseQueue(configuration: configuration), place: place, hostName: hostName, role: role,
                upgrade: StoreUpgrade(program: "0"), signer: signer, metrics: metrics, generator: &generator)
        } catch {
            throw StoreError(error)
        }
    }

    /// Everything that is durable, to be opened again or as another store; only of a store in memory.
    package func copy() throws(StoreError) -> [UInt8] {
        do {
            return try database.read { db in
                var count: sqlite3_int64 = 0
                guard let bytes = sqlite3_serialize(db.sqliteConnection, "main", &count, 0) else {
                    throw DatabaseError(resultCode: .SQLITE_NOMEM)
                }
                defer { sqlite3_free(bytes) }
                return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// From now on every commit fails as on a full disk, or no longer.
    package func setDiskFull(_ isFull: Bool) {
        database.writeWithoutTransaction { db in
            db.remove(transactionObserver: FullDisk.shared)
            if isFull { db.add(transactionObserver: FullDisk.shared, extent: .databaseLifetime) }
        }
    }

    /// From now on every access waits before and after it, as for a disk; only of a store in memory.
    package func setLatency(_ wait: @escaping @Sendable () async -> Void) {
        latency.withLock { $0 = Latency(pass: wait) }
    }

    /// Has somebody told that something was written, or could not be, before anybody else goes on; only of a store in memory.
    package func whenWritten(_ listener: @escaping @Sendable () -> Void) {
        commits.written.withLock { $0 = WrittenListener(tell: listener) }
    }

    /// From now on writes wait for each other, as they do for a slow disk; only of a store in memory.
    package func holdWrites() { commits.hold() }

    /// How many wait.
    package var waitingWriteCount: Int { commits.waitingCount }

    /// Commits all that wait, in their order, in one transaction.
    package func releaseWrites() { commits.release() }

    private static func fill(_ db: Database, with contents: [UInt8]) throws {
        guard let buffer = sqlite3_malloc64(sqlite3_uint64(contents.count)) else {
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        contents.withUnsafeBytes {
            buffer.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(buffer), byteCount: $0.count)
        }
        let count = sqlite3_int64(contents.count)
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
        let code = sqlite3_deserialize(
            db.sqliteConnection, "main", buffer.assumingMemoryBound(to: UInt8.self), count, count, flags)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}

/// Refuses every commit as SQLite does when the disk is full.
private final class FullDisk: TransactionObserver, Sendable {
    static let shared = FullDisk()

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseWillCommit() throws { throw DatabaseError(resultCode: .SQLITE_FULL) }
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}
