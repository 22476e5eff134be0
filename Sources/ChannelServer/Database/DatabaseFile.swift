import FoundationEssentials
import HTTPCoding
import Storage
import Systemd

#if canImport(Glibc)
    import Glibc
#endif

/// The server's database file: its directory is made if it is missing, closed to others.
enum DatabaseFile {
    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// - Parameter manager: told how far it is where the store of an older version has to be brought up to date.
    static func open(
        _ path: String, telling manager: ServiceManager = ServiceManager(environment: [:])
    ) throws -> Store {
        try makeDirectory(of: path)
        var isDirectory = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory {
            throw StartProblem(.usage, "\(path) is a directory; name a file in it with --database.")
        }
        var generator = SystemRandomNumberGenerator()
        do throws(StoreError) {
            return try Store.open(
                path: path, machine: "", hostName: "office", role: .channel,
                upgrade: StoreUpgrade(program: MusterVersion.current) { manager.progress("\($0)") },
                generator: &generator)
        } catch {
            let kind: SystemExit =
                switch error.code {
                case .newerThanProgram, .olderThanProgram, .otherRole, .damaged: .badData
                case .readOnly: .notPermitted
                default: .tryAgain
                }
            throw StartProblem(kind, error.explanation)
        }
    }

    /// Takes the database for this process, until the process ends: two servers would both believe that their ordering
    /// ids are new.
    static func lock(_ path: String) throws(StartProblem) {
        try makeDirectory(of: path)
        let lock = Glibc.open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            throw StartProblem(.notPermitted, "\(path).lock cannot be written; check the directory's owner and mode.")
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw StartProblem(.tryAgain, "Another muster-channel uses \(path); stop it, or name another --database.")
        }
    }

    private static func makeDirectory(of path: String) throws(StartProblem) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let directory = String(path[..<slash])
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StartProblem(
                .notPermitted,
                "The directory \(directory) cannot be made; make it, or name another file with --database.")
        }
    }
}
