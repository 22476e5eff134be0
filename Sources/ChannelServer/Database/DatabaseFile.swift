import HTTPCoding
import Storage
import Systemd

#if canImport(Glibc)
    import Glibc
#endif

/// The server's database file: its directory is made if it is missing, closed to others.
enum DatabaseFile {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Looks, without making anything of it, whether a server could serve from it. Whether another one does is not asked: who has a server
    /// take up settings asks while it runs.
    static func check(_ path: String) throws(StartProblem) {
        try checkPlace(of: path)
        guard exists(path) else { return }
        guard access(path, R_OK | W_OK) == 0 else { throw notWritten(path, String(cString: strerror(errno))) }
        do { try Store.check(path: path, role: .channel, program: MusterVersion.current) } catch {
            throw problem(error, path)
        }
    }

    /// Whether a file can be there; what is in it shows when it is opened.
    @discardableResult
    private static func checkPlace(of path: String) throws(StartProblem) -> DirectoryPath {
        let directory = DirectoryPath(DirectoryPath.parent(of: path))
        let kind = FileEntry(path)?.kind
        guard !path.hasSuffix("/"), kind != .directory else {
            throw StartProblem(.usage, "\(path) is a directory; name a file in it with --database.")
        }
        guard kind == nil || kind == .file else {
            throw StartProblem(.usage, "\(path) is no file; name another with --database.")
        }
        let failure = directory.failure()
        guard failure == 0 else { throw notMade(directory, failure) }
        return directory
    }

    /// - Parameter manager: told how far it is where the store of an older version has to be brought up to date.
    static func open(
        _ path: String, telling manager: ServiceManager = ServiceManager(environment: [:])
    ) throws(StartProblem) -> Store {
        try makeDirectory(of: path)
        var generator = SystemRandomNumberGenerator()
        do {
            return try Store.open(
                path: path, machine: "", hostName: "office", role: .channel,
                upgrade: StoreUpgrade(program: MusterVersion.current) { manager.progress("\($0)") },
                generator: &generator)
        } catch {
            throw problem(error, path)
        }
    }

    /// Takes the database for this process, until the process ends: two servers would both believe that their ordering
    /// ids are new.
    static func lock(_ path: String) throws(StartProblem) {
        try makeDirectory(of: path)
        do { _ = try FileLock(path + ".lock") } catch {
            switch error {
            case .noFile:
                throw StartProblem(
                    .notPermitted, "\(path).lock cannot be written; check the directory's owner and mode.")
            case .taken:
                throw StartProblem(
                    .tryAgain, "Another muster-channel uses \(path); stop it, or name another --database.")
            }
        }
    }

    private static func makeDirectory(of path: String) throws(StartProblem) {
        let directory = try checkPlace(of: path)
        let failure = directory.make(mode: 0o700)
        guard failure == 0 else { throw notMade(directory, failure) }
    }

    private static func notMade(_ directory: DirectoryPath, _ failure: Int32) -> StartProblem {
        let kind: SystemExit =
            switch failure {
            case EACCES, EPERM: .notPermitted
            case ENOTDIR, ENAMETOOLONG, ELOOP: .usage
            default: .tryAgain
            }
        let reason = String(cString: strerror(failure))
        return StartProblem(
            kind,
            "The directory \(directory.path) cannot \(directory.missing.isEmpty ? "be written" : "be made") (\(reason)); "
                + "see to its owner and mode, or name another file with --database.")
    }

    private static func notWritten(_ path: String, _ reason: String) -> StartProblem {
        StartProblem(
            .notPermitted,
            "The database \(path) cannot be written (\(reason)); check the owner and mode of it and of its directory, or name another with --database."
        )
    }

    /// A server's people have no state directory and no peers to have it all back from.
    private static func problem(_ error: StoreError, _ path: String) -> StartProblem {
        switch error.code {
        case .otherRole:
            StartProblem(.badData, "\(path) is a laptop's store; name the server's own database with --database.")
        // What the store has found by itself, in words that say what to do.
        case .damaged where error.cause == nil: StartProblem(.badData, error.description)
        case .damaged:
            StartProblem(
                .badData,
                "\(path) is no database, or a damaged one (\(error.cause ?? "")); name another with --database, or put a backup in its place (muster-channel backup --help)."
            )
        case .olderThanProgram:
            StartProblem(
                .badData,
                "\(path) was written by an early version of Muster that did not sign what people wrote, and was left as it is; name a new one with --database."
            )
        case .newerThanProgram: StartProblem(.badData, error.explanation)
        case .readOnly: notWritten(path, error.cause ?? error.description)
        default: StartProblem(.tryAgain, "The database \(path) cannot be opened: \(error.explanation)")
        }
    }
}
