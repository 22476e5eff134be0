import FoundationEssentials
import Glibc
import LocalAPI
import Systemd

/// The file of a Unix socket: made so that nobody can connect before its mode is right, and never taken from a daemon
/// that still answers.
///
/// Its mode is the guard: connect(2) needs write permission on the file, which the kernel checks for the owner, the
/// group with all supplementary groups, and root. Peer credentials (SO_PEERCRED) name only the primary group of the
/// caller, so that checking them as well could only turn away people whom the group lets in. Who may only look has another
/// socket, of another group (`LocalSocket`).
struct SocketFile: Sendable {
    /// Owner and group may read and write.
    static let mode: mode_t = 0o660
    /// `sun_path` of sockaddr_un, less the final zero.
    static let longestPath = 107

    let path: String
    /// Whose members may connect; nil for the group of the process.
    let group: String?
    /// Whether all directories above it are made, and not the last one alone.
    var makesParents = false

    /// Where the socket is bound first; `publish` moves it to its name.
    var preparationPath: String { path + "~" }

    /// What can be known before anything is made.
    func check() throws {
        guard preparationPath.utf8.count <= Self.longestPath else {
            throw APIError(
                .invalidValue,
                "The path of the socket \(path) is longer than \(Self.longestPath - 1) bytes: choose a shorter one.")
        }
        if let group, Self.id(ofGroup: group) == nil { throw Self.noGroup(group, path) }
        try checkKind()
        let number = directory.failure(making: makesParents ? .max : 1)
        guard number == 0 else { throw failure("make the socket \(path)", number) }
    }

    private func checkKind() throws {
        guard let kind = fileKind(path), kind != .typeSocket else { return }
        throw APIError(.invalidValue, "\(path) is not a socket: remove it, or choose another path with --socket.")
    }

    func isSame(as other: SocketFile) -> Bool {
        path.split(separator: "/").last == other.path.split(separator: "/").last
            && directory.isSame(as: other.directory)
    }

    private var directory: DirectoryPath { DirectoryPath(DirectoryPath.parent(of: path)) }

    private static func noGroup(_ group: String, _ path: String) -> APIError {
        APIError(.invalidValue, "There is no group '\(group)': make it (groupadd), or name another for \(path).")
    }

    /// Checks that the path can be used, makes its directory and takes the path for this daemon: of two that are started together
    /// neither would find the other one answering.
    ///
    /// - Returns: what holds it until it is released. Who has the lock may still find a socket of somebody else's there.
    func prepare() throws -> FileLock {
        try check()
        // Members of another group have to get to the socket, whose own mode guards it.
        let directory = directory
        let number = directory.make(mode: group == nil ? 0o750 : 0o755)
        guard number == 0 else { throw failure("make the directory \(directory.path)", number) }
        let lock: FileLock
        do { lock = try FileLock(path + ".lock") } catch {
            switch error {
            case .taken: throw isAnotherDaemons
            case .noFile(let number): throw failure("make the socket \(path)", number)
            }
        }
        guard fileKind(path) == nil || !isAnswered() else {
            lock.release()
            throw isAnotherDaemons
        }
        unlink(preparationPath)
        return lock
    }

    private var isAnotherDaemons: APIError {
        APIError(
            .unavailable, "Another daemon answers on \(path): stop it first, or choose another path with --socket.")
    }

    /// Gives the bound socket its mode and then its name, in place of a stale one.
    func publish() throws {
        if let group { try give(to: group) }
        guard chmod(preparationPath, Self.mode) == 0, rename(preparationPath, path) == 0 else {
            throw failure("make the socket \(path)")
        }
    }

    private func give(to group: String) throws {
        guard let id = Self.id(ofGroup: group) else { throw Self.noGroup(group, path) }
        guard chown(preparationPath, uid_t.max, id) == 0 else {
            throw APIError(
                .notPermitted,
                "The daemon may not give \(path) to the group '\(group)' (\(String(cString: strerror(errno)))): put its user "
                    + "into that group.")
        }
    }

    private static func id(ofGroup name: String) -> gid_t? {
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        // A group with some thousands of members still fits.
        var buffer = [CChar](repeating: 0, count: 1 << 20)
        guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.gr_gid
    }

    /// To tell the file later from one that another daemon has put there.
    var entry: FileEntry? { FileEntry(path) }

    /// Removes the file if it is still the one given.
    func remove(_ entry: FileEntry?) {
        if let entry, entry == self.entry { unlink(path) }
    }

    /// Whether a process accepts connections on the path.
    private func isAnswered() -> Bool {
        // Without waiting: one whose backlog is full would be waited for until it goes on.
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, Int32(kind), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // A full backlog (EAGAIN) and a refused permission are answers too: only a refused connection is nobody.
        return result == 0 || errno != ECONNREFUSED
    }

    private func fileKind(_ path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    /// - Parameter number: errno.
    func failure(_ action: String, _ number: Int32 = errno) -> APIError {
        let code: APIError.Code =
            switch number {
            case EACCES, EPERM: .notPermitted
            // What may pass by itself: whoever runs it tries again.
            case ENOSPC, EDQUOT, EROFS, EIO, EMFILE, ENFILE, ENOMEM: .unavailable
            default: .invalidValue
            }
        return APIError(
            code, "Cannot \(action) (\(String(cString: strerror(number)))): choose another path with --socket.")
    }
}
