import Foundation
import GRDB

#if canImport(Glibc)
    import Glibc
#endif

/// The write-ahead log moved home, and copies of a store that is in use.
extension Store {
    /// Moves the write-ahead log into the database file and empties it, if it is long enough.
    ///
    /// - Parameter bytes: up to this length it is left alone.
    /// - Returns: false while somebody reads: another time, then.
    @discardableResult
    package func truncateLog(beyond bytes: Int = 0) async throws -> Bool {
        guard let pool = database as? DatabasePool else { return true }
        var status = stat()
        guard stat(Disk.target(of: pool.path) + "-wal", &status) == 0, status.st_size > bytes else { return true }
        do {
            // Also when the task is cancelled, as at the end of a server: the library's own async writes would refuse.
            return try await withCheckedThrowingContinuation { continuation in
                pool.asyncWriteWithoutTransaction { db in
                    continuation.resume(with: Result { try Self.truncateLog(of: db) })
                }
            }
        } catch {
            throw StoreError(error)
        }
    }

    private static func truncateLog(of db: Database) throws -> Bool {
        // Most of it without holding anybody up, the rest while writers wait, but not for a slow reader.
        _ = try Row.fetchAll(db, sql: "PRAGMA wal_checkpoint(PASSIVE)")
        try db.execute(sql: "PRAGMA busy_timeout = 200")
        defer { try? db.execute(sql: "PRAGMA busy_timeout = 2000") }
        return try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == 0
    }

    /// Writes one state of a store that another process may be writing into a new file, closed to others.
    ///
    /// It stands under its name when it is whole and on the disk, and not before.
    /// - Throws: `BackupFailure`; `StoreError`.
    package static func backUp(from path: String, to copy: String) throws {
        guard access(copy, F_OK) != 0 else { throw BackupFailure.exists }
        guard access(path, R_OK) == 0 else { throw BackupFailure.noStore }
        try StorePresence(ofStoreAt: path).check()
        let part = copy + ".part"
        unlink(part)
        // SQLite fills an empty file, and would make one that everybody may read.
        let descriptor = Glibc.open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BackupFailure.notWritable(String(cString: strerror(errno))) }
        defer {
            Glibc.close(descriptor)
            unlink(part)
        }
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(10)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            try queue.inDatabase { db in try db.execute(sql: "VACUUM INTO ?", arguments: [part]) }
        } catch {
            throw StoreError(error)
        }
        do throws(POSIXError) {
            try Disk.flush(descriptor)
            // A link, unlike a renaming, replaces nothing that somebody has put there meanwhile.
            guard link(part, copy) == 0 else { throw Disk.lastError }
            try Disk.flushDirectory(of: copy)
        } catch {
            throw error.code == .EEXIST
                ? BackupFailure.exists : .notWritable(String(cString: strerror(error.code.rawValue)))
        }
    }
}

/// Why there is no backup. Nothing stands under its name.
package enum BackupFailure: Error, Hashable, Sendable {
    /// Something has the name already.
    case exists
    /// There is no file to copy, or it cannot be read.
    case noStore
    /// With the system's reason.
    case notWritable(String)
}
