package import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// What has to be on the disk before the next step: see fsync(2), which a new name needs for its directory, too.
package enum Disk {
    static func flush(_ descriptor: Int32) throws(POSIXError) {
        guard fsync(descriptor) == 0 else { throw lastError }
    }

    /// Puts a file in its place whole (rename(2)): after a power cut it is the old one or the new one. Nobody else may read it.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(POSIXError) {
        let temporary = path + ".new"
        let file = Glibc.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw lastError }
        defer { Glibc.close(file) }
        do throws(POSIXError) {
            guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw lastError }
            try flush(file)
            guard rename(temporary, path) == 0 else { throw lastError }
        } catch {
            unlink(temporary)
            throw error
        }
        try flushDirectory(of: path)
    }

    /// Whose a file or a directory is; nil where it is not there. (In a module that has all of Foundation `stat` belongs, depending on the
    /// order of the build, to another one.)
    package static func owner(of path: String) -> (user: UInt32, group: UInt32)? {
        var status = stat()
        return stat(path, &status) == 0 ? (status.st_uid, status.st_gid) : nil
    }

    /// In bytes; nil for a file that is not there.
    static func length(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Where links lead from a path, also to a file that is gone: what SQLite puts beside a database lies beside that.
    static func target(of path: String) -> String {
        var place = path
        // As many as Linux follows.
        for _ in 0..<40 {
            var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = buffer.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { readlink(place, $0, bytes.count) } ?? 0
            }
            guard count > 0 else { break }
            let target = String(decoding: buffer[..<count], as: UTF8.self)
            let slash = place.lastIndex(of: "/")
            place = target.hasPrefix("/") ? target : (slash.map { String(place[...$0]) } ?? "") + target
        }
        return place
    }

    /// So that a file's name, or that it is gone, outlasts a power cut.
    package static func flushDirectory(of path: String) throws(POSIXError) {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw lastError }
        defer { Glibc.close(descriptor) }
        try flush(descriptor)
    }

    static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
