#if canImport(Glibc)
    import Glibc
#endif

/// What a name stands for by now (stat(2)). Here, since in a module that has all of Foundation `stat` belongs, depending on the order of
/// the build, to another one.
package struct FileEntry: Equatable, Sendable {
    /// As far as a setting asks.
    package enum Kind: Equatable, Sendable { case file, directory, other }

    /// What it is.
    package let kind: Kind
    /// Another file of the same name has other numbers.
    private let device: UInt64
    private let number: UInt64

    /// Nil where nothing can be found there.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            default: .other
            }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
