import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// What has to be on the disk before the next step: see fsync(2), which a new name needs for its directory, too.
enum Disk {
    static func flush(_ descriptor: Int32) throws(POSIXError) {
        guard fsync(descriptor) == 0 else { throw lastError }
    }

    /// So that a file's name is there after a power cut.
    static func flushDirectory(of path: String) throws(POSIXError) {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw lastError }
        defer { Glibc.close(descriptor) }
        try flush(descriptor)
    }

    static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
