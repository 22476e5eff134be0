import Glibc
import LocalAPI

/// A file, packed by gzip or not, that is read in pieces: a table, a history, a certificate.
final class InputFile {
    private var descriptor: Int32
    /// As it lies there, in bytes; nil for a pipe.
    private(set) var size: Int?
    /// Of `size`.
    private(set) var bytesRead = 0
    /// Whether its name says that tabs stand between the cells of a table.
    let isTabbed: Bool

    private var unpacker: GzipReader?

    /// - Parameter path: `-` stands for standard input.
    init(path: String) throws {
        isTabbed = [".tsv", ".tab", ".tsv.gz", ".tab.gz"].contains { path.lowercased().hasSuffix($0) }
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        if descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            close(descriptor)
            (descriptor, errno) = (-1, EISDIR)
        }
        guard descriptor >= 0 else {
            throw APIError(
                errno == EACCES ? .notPermitted : .invalidValue,
                "Cannot read \(path) (\(String(cString: strerror(errno)))): check the file's name.")
        }
        let end = lseek(descriptor, 0, SEEK_END)
        size = end >= 0 ? Int(end) : nil
        if end >= 0 { lseek(descriptor, 0, SEEK_SET) }
    }

    deinit {
        close(descriptor)
    }

    /// The next piece of the text; nil at the end.
    func next() throws -> [UInt8]? {
        if bytesRead == 0 {
            guard let beginning = try beginning() else { return nil }
            guard beginning.starts(with: GzipReader.magic) else { return beginning }
            let unpacker = GzipReader()
            unpacker.add(beginning)
            self.unpacker = unpacker
        }
        guard let unpacker else { return try piece() }
        while true {
            if let text = try unpacker.next() { return text }
            guard let packed = try piece() else {
                try unpacker.finish()
                return nil
            }
            unpacker.add(packed)
        }
    }

    /// Makes the file one that can be read again: a pipe is put into a file without a name.
    func keep() throws {
        guard size == nil else { return }
        let directory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(directory)/muster-import-XXXXXX".utf8CString)
        let copy = mkstemp(&template)
        guard copy >= 0 else { throw Self.cannotKeep(in: directory) }
        unlink(&template)
        defer { close(copy) }
        var bytes = 0
        while let piece = try piece() {
            var written = 0
            while written < piece.count {
                let result = piece[written...].withUnsafeBytes { write(copy, $0.baseAddress, $0.count) }
                guard result >= 0 else { throw Self.cannotKeep(in: directory) }
                written += result
            }
            bytes += piece.count
        }
        size = bytes
        dup2(copy, descriptor)
        rewind()
    }

    /// Begins at the beginning again, after `keep`.
    func rewind() {
        lseek(descriptor, 0, SEEK_SET)
        bytesRead = 0
        unpacker = nil
    }

    /// As much as tells what kind of file it is; nil for an empty one.
    private func beginning() throws -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < GzipReader.magic.count, let piece = try piece() { bytes += piece }
        return bytes.isEmpty ? nil : bytes
    }

    /// The next piece of the file as it lies there.
    private func piece() throws -> [UInt8]? {
        var failure: Int32 = 0
        let piece = [UInt8](unsafeUninitializedCapacity: 128 << 10) { buffer, count in
            let result = read(descriptor, buffer.baseAddress, buffer.count)
            failure = result < 0 ? errno : 0
            count = max(0, result)
        }
        guard failure == 0 else {
            throw APIError(.invalidValue, "Cannot read the file (\(String(cString: strerror(failure)))).")
        }
        bytesRead += piece.count
        return piece.isEmpty ? nil : piece
    }

    private static func cannotKeep(in directory: String) -> APIError {
        APIError(
            .invalidValue,
            "Cannot keep what comes through the pipe in \(directory) (\(String(cString: strerror(errno)))): "
                + "name another directory in TMPDIR, or import from a file.")
    }
}
