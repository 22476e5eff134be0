import Glibc
import LocalAPI
import UnixSignals

/// A file that has its name when it is whole and on the disk, and not before.
final class WholeFile {
    private let path: String
    private let part: String
    private var descriptor: Int32
    private let isReplacing: Bool

    /// - Parameters:
    ///   - isReplacing: takes the place of a file of that name.
    ///   - isPrivate: nobody else may read it.
    init(path: String, isReplacing: Bool, isPrivate: Bool = true) throws {
        self.path = path
        self.isReplacing = isReplacing
        // Another one may be under way to the same name.
        part = Self.part(of: path)
        descriptor = -1
        try checkName()
        // Left by a former process of the same number, or put there by somebody who wants to have it.
        unlink(part)
        descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, isPrivate ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw failure }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlink(part)
    }

    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure }
            rest = rest.dropFirst(count)
        }
    }

    /// A text, all at once; there is no file of that name yet.
    static func create(_ path: String, _ text: String) throws {
        let file = try WholeFile(path: path, isReplacing: false)
        try file.write(Array(text.utf8))
        try file.publish()
    }

    /// Reads what was written, from its beginning.
    func reread(_ each: ([UInt8]) throws -> Void) throws {
        let file = try InputFile(path: part)
        while let piece = try file.next() { try each(piece) }
    }

    /// Gives it its name: after a power cut it is whole, or not there.
    func publish() throws {
        try checkName()
        guard fsync(descriptor) == 0, rename(part, path) == 0 else { throw failure }
        close(descriptor)
        descriptor = -1
        // The name, too, has to be on the disk (fsync(2)); where a directory cannot be flushed, as over some networks, it comes by itself.
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return }
        _ = fsync(parent)
        close(parent)
    }

    private static func part(of path: String) -> String { "\(path).\(getpid()).part" }

    /// Begins such a file and runs the body; Ctrl-C or a polite kill meanwhile ends the program, and leaves nothing.
    static func watched<Value>(
        path: String, isReplacing: Bool, isPrivate: Bool = true, _ body: (WholeFile) async throws -> Value
    ) async throws -> Value {
        let part = part(of: path)
        // Before there is a file: who stops it as soon as that is seen leaves nothing, too.
        let signals = await UnixSignalsSequence(trapping: [.sigint, .sigterm])
        let watcher = Task {
            for await signal in signals {
                unlink(part)
                StandardError.say(
                    "Stopped: nothing was written.", after: Terminal.error.isInteractive ? "\r\u{1B}[K" : "")
                Ending.end(by: signal)
            }
        }
        defer { watcher.cancel() }
        return try await body(WholeFile(path: path, isReplacing: isReplacing, isPrivate: isPrivate))
    }

    private func checkName() throws {
        if !isReplacing { try Self.checkName(path) }
    }

    /// - Parameter remedy: what to do, after a colon.
    /// - Throws: where there is a file of that name.
    static func checkName(_ path: String, remedy: String = "name another file.") throws {
        guard access(path, F_OK) == 0 else { return }
        throw APIError(.invalidValue, "\(path) is there already: \(remedy)")
    }

    private var failure: APIError {
        let code: APIError.Code =
            switch errno {
            case EACCES, EPERM: .notPermitted
            // The place is wrong, also next time.
            case ENOENT, ENOTDIR, EISDIR, ENAMETOOLONG, ELOOP, ENXIO: .invalidValue
            default: .unavailable
            }
        return APIError(
            code,
            "\(path) cannot be written (\(String(cString: strerror(errno)))); nothing stands under that name that was not there "
                + "before: name another place.")
    }
}
