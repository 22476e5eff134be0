import Foundation
import GRDB

#if canImport(Glibc)
    import Glibc
#endif

/// The copy of a store from before an upgrade, beside it. It has its name once it is whole and on the disk, and not before.
struct StoreSnapshot {
    private static let infix = "-before-"

    let storePath: String
    /// The version that the store was upgraded to.
    let version: String

    init(ofStoreAt path: String, before version: String) {
        storePath = path
        self.version = version
    }

    var path: String { storePath + Self.infix + version }
    private var part: String { path + ".part" }

    var exists: Bool { access(path, F_OK) == 0 }

    /// Copies the store as a new reader sees it. What has the name already is of an upgrade that did not come to pass, or is
    /// older than the store: it is replaced, when the new one is whole.
    ///
    /// - Parameter tell: called with each new percentage, 0 to 100.
    func take(from store: any DatabaseReader, tell: @escaping (Int) -> Void) throws {
        removePart()
        try store.read(checkRoom)
        // Made by SQLite, everybody could read it.
        let descriptor = Glibc.open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(Disk.lastError, Self.failure) }
        defer {
            Glibc.close(descriptor)
            removePart()
        }
        try store.read { try fill(from: $0, tell: tell) }
        do throws(POSIXError) {
            try Disk.flush(descriptor)
            guard rename(part, path) == 0 else { throw Disk.lastError }
            try Disk.flushDirectory(of: path)
        } catch {
            throw StoreError(error, Self.failure)
        }
    }

    private func fill(from db: Database, tell: @escaping (Int) -> Void) throws {
        let copy = try DatabaseQueue(path: part)
        defer { try? copy.close() }
        try copy.writeWithoutTransaction { target in
            // Whoever is killed meanwhile leaves a file without a name: nothing has to be undone in it.
            try target.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            var told = 0
            tell(told)
            try db.backup(to: target, pagesPerStep: 1_024) { progress in
                guard progress.totalPageCount > 0 else { return }
                let percent = 100 * progress.completedPageCount / progress.totalPageCount
                guard percent != told else { return }
                told = percent
                tell(percent)
            }
            // So that it is one file, which can be looked at without others beside it.
            try target.execute(sql: "PRAGMA journal_mode = DELETE")
        }
    }

    /// A copy that does not fit is not begun: whoever starts the daemon each second would write all day.
    private func checkRoom(for db: Database) throws {
        let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let needed = pages * (try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
        var disk = statvfs()
        guard statvfs(storePath, &disk) == 0 else { return }
        let free = Int64(clamping: UInt64(disk.f_bavail) * UInt64(disk.f_frsize))
        guard free < needed else { return }
        throw StoreError(
            .diskFull,
            "The store has to be copied before it is upgraded, and the disk has no room for that: \(needed >> 20) MB are needed in its directory, and \(free >> 20) MB are free; free some space, nothing was changed."
        )
    }

    func remove() { unlink(path) }

    /// Of older upgrades nobody goes back to; and what was not finished is of no use.
    func removeOthers() {
        let store = URL(fileURLWithPath: storePath)
        let directory = store.deletingLastPathComponent()
        let own = URL(fileURLWithPath: path).lastPathComponent
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        for name in names where name.hasPrefix(store.lastPathComponent + Self.infix) && name != own {
            unlink(directory.appendingPathComponent(name).path)
        }
    }

    private func removePart() {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(part + suffix) }
    }

    private static let failure = "The store cannot be copied before its upgrade"
}

extension StoreError {
    /// Wraps what the system says of the store's directory.
    ///
    /// - Parameter what: the beginning of a sentence, of what could not be done.
    init(_ error: POSIXError, _ what: String) {
        let cause = String(cString: strerror(error.code.rawValue))
        switch error.code {
        case .ENOSPC, .EDQUOT:
            self.init(.diskFull, "The disk is full; free some space, nothing was changed.", cause: cause)
        case .EACCES, .EPERM, .EROFS:
            self.init(.readOnly, "\(what); check the owner and mode of the state directory.", cause: cause)
        default:
            self.init(.other, "\(what); see to its directory, nothing was changed.", cause: cause)
        }
    }
}
