import Foundation
import GRDB

#if canImport(Glibc)
    import Glibc
#endif

/// The store of before the last upgrade, to be put back in its place: what for, and what of. Nobody else has the store open.
///
/// An older program than the store's can do it, too: of a newer layout it needs the table `program`, and nothing else.
package struct StoreRollback {
    /// The version that the store was upgraded to.
    package let version: String
    /// The version that the copy is of; empty for one that did not say so.
    package let former: String
    /// When the copy was made, in milliseconds since 1970.
    package let madeMilliseconds: Int64
    /// What the store holds of each job that the copy does not; a failure where this program cannot read it.
    package let losses: Result<[RollbackLoss], StoreError>
    /// What people have said since that stands in no journal.
    package let words: RollbackWords
    /// Whether this program would upgrade what it has put back.
    package let upgradesAgain: Bool

    private let storePath: String
    private let snapshot: StoreSnapshot

    /// Compares both, and changes nothing that anybody would see.
    ///
    /// - Parameter program: this one's version.
    /// - Throws: `StoreError`; `.noSnapshot` when there is nothing to put back.
    package init(ofStoreAt path: String, program: String) throws(StoreError) {
        do {
            try StorePresence(ofStoreAt: path).check()
            let store = try Self.open(path)
            // With the last connection the log moves home.
            defer { try? store.close() }
            guard try !store.read(Schema.isForeign) else { throw StoreError.foreign(path) }
            guard let entry = try store.read(ProgramTable.entry), let former = entry.former else {
                throw StoreError.neverUpgraded
            }
            let snapshot = StoreSnapshot(ofStoreAt: path, before: entry.version)
            var status = stat()
            // What somebody has put there, a link or a pipe, is no copy.
            guard lstat(snapshot.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw StoreError.noSnapshot(snapshot.path)
            }
            let device = try store.read(Found.owner)
            let found = try Self.readingCopy(snapshot.path) { copy in
                try store.read { newer in
                    try copy.read { try Found(newer, of: device, against: $0, at: snapshot.path) }
                }
            }
            guard !found.isSuperseded else {
                throw StoreError(
                    .newerThanProgram,
                    "The copy of before the upgrade is of Muster \(former), and this is \(program), which cannot read it; install \(former). Nothing was changed."
                )
            }
            (version, self.former, storePath, self.snapshot) = (entry.version, former, path, snapshot)
            madeMilliseconds = Int64(status.st_mtim.tv_sec) * 1_000
            (upgradesAgain, losses, words) = (found.upgradesAgain, found.losses, found.words)
        } catch {
            throw StoreError(error)
        }
    }

    /// What a look at both has found.
    private struct Found {
        let isSuperseded: Bool
        let upgradesAgain: Bool
        let losses: Result<[RollbackLoss], StoreError>
        let words: RollbackWords

        static func owner(_ db: Database) throws -> String? { try String.fetchOne(db, sql: "SELECT device FROM store") }

        /// What is wrong with the newer one is no reason to stay with it.
        init(_ newer: Database, of device: String?, against copy: Database, at path: String) throws {
            // Without its indexes rows would be passed over that are there.
            guard try copy.isWhole(at: path), try String.fetchAll(copy, sql: "PRAGMA integrity_check(1)") == ["ok"],
                // A file without a table is sound, too.
                try copy.tableExists("store"), try Int.fetchOne(copy, sql: "SELECT count(*) FROM store") == 1
            else {
                throw StoreError.damagedSnapshot(path)
            }
            guard try Self.owner(copy) == device else {
                throw StoreError.foreignSnapshot(path)
            }
            let schema = Schema(for: .laptop)
            isSuperseded = try schema.isSuperseded(in: copy)
            upgradesAgain = try !schema.pending(in: copy).isEmpty
            losses = Result { try RollbackLoss.all(in: newer, against: copy) }.mapError { StoreError($0) }
            words = try RollbackWords(in: newer, against: copy)
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(2)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// What is wrong with the copy is no fault of the store. It can be written to: whoever was killed in `takeOver` has left a
    /// transaction that has to be undone.
    private static func readingCopy<Value>(_ path: String, _ body: (DatabaseQueue) throws -> Value) throws -> Value {
        do {
            let copy = try open(path)
            defer { try? copy.close() }
            return try body(copy)
        } catch let error as DatabaseError
            where [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_CANTOPEN].contains(error.resultCode)
        {
            throw StoreError.damagedSnapshot(path)
        }
    }

    /// Puts the copy in the store's place, in one step: whenever it is interrupted, the one or the other is there whole.
    ///
    /// - Returns: where the newer store is kept.
    /// - Throws: `StoreError`; nothing is changed then.
    package func perform() throws(StoreError) -> String {
        do {
            try emptyLog()
            try takeOver()
        } catch {
            throw StoreError(error)
        }
        for suffix in ["-wal", "-shm"] { unlink(Disk.target(of: storePath) + suffix) }
        do throws(POSIXError) {
            let kept = try keepNewer()
            try Disk.flushDirectory(of: storePath)
            guard rename(snapshot.path, storePath) == 0 else { throw Disk.lastError }
            try Disk.flushDirectory(of: storePath)
            return kept
        } catch {
            throw StoreError(error, "The store cannot be put back")
        }
    }

    /// Moves what a killed program has left in the log into the store, for which the disk may have no room.
    private func emptyLog() throws {
        let store = try Self.open(storePath)
        defer { try? store.close() }
        _ = try store.writeWithoutTransaction { try Row.fetchAll($0, sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        var status = stat()
        // Beside another database a log would be taken for that one's.
        if stat(Disk.target(of: storePath) + "-wal", &status) == 0, status.st_size > 0 {
            throw StoreError(.busy, "Another program has the store open; end it and try again, nothing was changed.")
        }
    }

    /// Writes into the copy what was said since. Whoever is interrupted after that finds nothing more to take over.
    private func takeOver() throws {
        guard !words.kept.isEmpty else { return }
        let copy = try Self.open(snapshot.path)
        defer { try? copy.close() }
        try copy.writeWithoutTransaction { db in
            // It is one file afterwards, without a log that would have to be renamed with it.
            try db.execute(sql: "PRAGMA journal_mode = DELETE")
            try db.inTransaction {
                try words.write(to: db)
                return .commit
            }
        }
    }

    /// Gives the newer store a second name, which nothing has yet.
    private func keepNewer() throws(POSIXError) -> String {
        var (store, other) = (stat(), stat())
        guard stat(storePath, &store) == 0 else { throw Disk.lastError }
        var number = 1
        while true {
            let name = "\(storePath)-after-\(version)" + (number == 1 ? "" : "-\(number)")
            // Or that it has been given before, by somebody who was interrupted then.
            if stat(name, &other) == 0, other.st_ino == store.st_ino, other.st_dev == store.st_dev { return name }
            if link(storePath, name) == 0 { return name }
            guard errno == EEXIST else { throw Disk.lastError }
            number += 1
        }
    }
}

extension StoreError {
    static let neverUpgraded = StoreError(
        .noSnapshot, "The store was never upgraded from an older version, so there is nothing to go back to.")

    static func noSnapshot(_ path: String) -> StoreError {
        StoreError(
            .noSnapshot,
            "The copy of before the upgrade, \(path), is not there any more; put it back from a backup of the directory, or install the version that the store is of."
        )
    }

    static func foreignSnapshot(_ path: String) -> StoreError {
        StoreError(
            .damaged,
            "The file \(path) is another laptop's store, and no copy of before the upgrade; nothing was changed. Move it aside."
        )
    }

    static func damagedSnapshot(_ path: String) -> StoreError {
        StoreError(
            .damaged,
            "The copy of before the upgrade, \(path), is damaged, or cannot be read; nothing was changed. Keep the store as it is, or put the copy back from a backup of the directory."
        )
    }
}
