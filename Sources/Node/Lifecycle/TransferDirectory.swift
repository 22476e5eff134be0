import Checkup
import FoundationEssentials
import LocalAPI
import LocalAPIServer
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Where copies of the store stand while they come or go: beside the store, since the daemon may write nowhere else, and closed to
/// others. Nothing in it outlasts the daemon.
final class TransferDirectory: Sendable {
    /// Whatever is copied, so much stays free: the inventory is written on.
    static let reserve: UInt64 = 64 << 20

    let path: String
    private let isTaken = Mutex(false)

    /// Of a state directory.
    init(in stateDirectory: String) {
        path = Self.path(in: stateDirectory)
    }

    private static func path(in stateDirectory: String) -> String { stateDirectory + "/transfer" }

    /// What a daemon that ended in the midst of it has left takes room for nothing.
    static func clear(in stateDirectory: String) {
        try? FileManager.default.removeItem(atPath: path(in: stateDirectory))
    }

    /// Runs one at a time, with a name for a file that is deleted afterwards, whatever SQLite puts beside it, too.
    func withFile<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let isFree = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        guard isFree else {
            throw APIError(.unavailable, "Another backup or restore is under way; try again when it is done.")
        }
        defer { isTaken.withLock { $0 = false } }
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw APIError(.unavailable, "The directory \(path) cannot be made; see that the disk has room.")
        }
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path + "/store.sqlite")
    }

    /// - Throws: `unavailable` where the disk has no room for so much more.
    func checkRoom(for bytes: Int) throws(APIError) {
        guard let free = DiskSpace.freeBytes(at: String(path.dropLast("/transfer".count))) else { return }
        let needed = UInt64(bytes) + Self.reserve
        guard free < needed else { return }
        throw APIError(
            .unavailable,
            "The daemon's disk has \(free >> 20) MiB free, and a copy of the store takes \(needed >> 20) MiB there with what is "
                + "kept for the inventory; free some space and try again.")
    }
}

/// A file that is read in pieces, without a name by then.
actor FilePieces {
    private static let pieceBytes = 256 << 10
    private let descriptor: Int32
    private var rest: Int

    /// Takes the file's name away: what is open goes with whoever reads it, and with the daemon.
    ///
    /// - Throws: `unavailable`.
    init(taking path: String) throws {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        let end = descriptor >= 0 ? lseek(descriptor, 0, SEEK_END) : -1
        guard end >= 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw APIError(.unavailable, "The copy of the store cannot be read; try again.")
        }
        rest = Int(end)
        unlink(path)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    var size: Int { rest }

    /// Nil at the end.
    func next() throws -> [UInt8]? {
        guard rest > 0 else { return nil }
        let wanted = min(Self.pieceBytes, rest)
        let descriptor = descriptor
        let piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, wanted))
        }
        guard !piece.isEmpty else { throw APIError(.failed, "The copy of the store cannot be read on; try again.") }
        rest -= piece.count
        return piece
    }
}

/// A file that is written in pieces.
struct FileWriter: ~Copyable {
    private let descriptor: Int32

    /// Makes the file, for this user alone.
    init(at path: String) throws(APIError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.noRoom }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func write(_ bytes: [UInt8]) throws(APIError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Self.noRoom }
            rest = rest.dropFirst(count)
        }
    }

    private static var noRoom: APIError {
        APIError(.unavailable, "The backup cannot be put on the daemon's disk; free some space there and try again.")
    }
}
