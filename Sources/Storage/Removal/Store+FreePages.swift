import GRDB

extension Store {
    /// So many free pages stay for what is written next, 4 MiB.
    package static let keptPages = 1_000
    /// Given back at once, 1 MiB: whoever writes meanwhile waits for no more.
    private static let returnedPages = 250

    /// Gives some of the file's free pages back to the disk, if the file can (`auto_vacuum`).
    ///
    /// - Returns: false when no more than `keptPages` are left.
    package func returnFreePages(keeping kept: Int = keptPages) async throws -> Bool {
        let excess = try await read { db in
            guard try Int.fetchOne(db.cachedStatement(sql: "PRAGMA auto_vacuum")) == 2 else { return 0 }
            return max(0, (try Int.fetchOne(db.cachedStatement(sql: "PRAGMA freelist_count")) ?? 0) - kept)
        }
        guard excess > 0 else { return false }
        try await write(isLong: true) { db in
            // Read to its end: each step gives one page back.
            _ = try Row.fetchAll(db, sql: "PRAGMA incremental_vacuum(\(min(excess, Self.returnedPages)))")
        }
        return excess > Self.returnedPages
    }
}
