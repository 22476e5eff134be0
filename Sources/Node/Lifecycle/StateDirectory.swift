import FoundationEssentials
import Systemd

#if canImport(Glibc)
    import Glibc
#endif

/// The directory that holds the store: made if it is missing, closed to others, used by one daemon.
struct StateDirectory {
    let path: String
    let storePath: String

    /// Takes the directory for this process, until the process ends.
    /// - Throws: `ConfigurationError`.
    init(path: String) throws(ConfigurationError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ConfigurationError(
                "The state directory \(path) cannot be made; make it, or name another with --state-dir.")
        }
        let lock = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            throw ConfigurationError(
                "The state directory \(path) cannot be written (\(String(cString: strerror(errno)))); check its owner and mode."
            )
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw ConfigurationError(
                "Another musterd uses \(path); stop it, or name another directory with --state-dir.")
        }
        self.path = path
        storePath = Self.storePath(in: path)
    }

    static func storePath(in path: String) -> String { path + "/muster.sqlite" }
}

/// What this machine is called.
enum Host {
    static var name: String { ProgramStart.hostName ?? "laptop" }

    /// The id that systemd gave the installation (machine-id(5)); empty where there is none.
    static var machineID: String {
        guard let file = fopen("/etc/machine-id", "r") else { return "" }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 64)
        guard fgets(&buffer, 64, file) != nil else { return "" }
        let bytes = buffer.prefix { $0 != 0 && $0 != 0x0A }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
