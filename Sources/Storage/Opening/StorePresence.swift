#if canImport(Glibc)
    import Glibc
#endif

/// What lies where a store is to be, looked at before SQLite does: beside an empty file that would delete the log, with all that was
/// acknowledged and stands in it.
struct StorePresence {
    private let path: String

    init(ofStoreAt path: String) {
        self.path = path
    }

    /// Refuses what cannot be a store, and to begin a new one where there was one.
    ///
    /// A store has its first page on the disk before it has a log or a witness (`OpeningWitness`), so a first start that died leaves
    /// nothing of the kind.
    func check() throws(StoreError) {
        var status = stat()
        let isThere = stat(path, &status) == 0
        // What cannot be looked at cannot be opened either.
        guard isThere || errno == ENOENT else { return }
        guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.damaged, "\(path) is no file, and so no store; move it aside. Nothing was changed.")
        }
        guard !isThere || status.st_size == 0 else { return }
        let rest: [String] = [Disk.target(of: path) + "-wal", path + "-opened"]
            .filter { stat($0, &status) == 0 && status.st_size > 0 }
        guard rest.isEmpty else {
            throw StoreError(
                .damaged,
                "The store \(path) is \(isThere ? "empty" : "gone"), and \(rest.joined(separator: " and ")) of it \(rest.count == 1 ? "is" : "are") still there: put the file back as it was; before a backup takes its place, or a new store begins, move the rest aside. Nothing was changed."
            )
        }
    }
}
