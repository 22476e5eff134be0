#if canImport(Glibc)
    import Glibc
#endif

/// A file that one process at a time holds (flock(2)). It stays where it is: one that was deleted, or is left from before a power cut, is
/// held by nobody.
package struct FileLock: Sendable {
    /// Why it is not held.
    package enum Failure: Error, Hashable, Sendable {
        /// Another process holds it, or another part of this one.
        case taken
        /// The file cannot be had: errno.
        case noFile(Int32)
    }

    private let descriptor: Int32

    /// Takes it, until `release` or the end of this program, however that comes.
    package init(_ path: String) throws(Failure) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .noFile(errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .taken
        }
    }

    /// To be called once at most.
    package func release() { close(descriptor) }
}
