import Glibc
import LocalAPI

/// A file that is read in pieces.
final class InputFile {
    private let descriptor: Int32
    /// In bytes; nil for a pipe.
    let size: Int?
    private(set) var bytesRead = 0

    /// - Parameter path: `-` stands for standard input.
    init(path: String) throws {
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
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

    /// The next piece; nil at the end.
    func next() throws -> [UInt8]? {
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
}
