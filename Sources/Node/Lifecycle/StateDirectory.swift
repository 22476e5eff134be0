import Systemd

#if canImport(Glibc)
    import Glibc
#endif

/// The directory that holds the store: made if it is missing, closed to others, used by one daemon.
struct StateDirectory {
    let path: String
    let storePath: String

    /// Why the directory cannot be used.
    struct Fault: Error {
        /// What is wrong and what to do.
        let sentence: String
        let exit: SystemExit

        init(_ sentence: String, _ exit: SystemExit) {
            (self.sentence, self.exit) = (sentence, exit)
        }

        /// - Parameter number: errno, which says whether the same may succeed later: a disk that is full, or comes late.
        init(_ what: String, _ number: Int32, remedy: String) {
            sentence = "\(what) (\(String(cString: strerror(number)))); \(remedy)"
            exit =
                switch number {
                case EACCES, EPERM: .notPermitted
                case ENOTDIR, EEXIST, EISDIR, ENAMETOOLONG, ELOOP: .usage
                default: .tryAgain
                }
        }
    }

    /// Takes the directory for this process, until the process ends.
    ///
    /// - Throws: `Fault`.
    init(path: String) throws(Fault) {
        // Closed to others, and so are those above it.
        let failure = try Self.check(path).make(mode: 0o700)
        guard failure == 0 else { throw Self.notMade(path, failure) }
        do { _ = try FileLock(path + "/lock") } catch {
            switch error {
            case .noFile(let failure): throw Self.notWritten(path, failure)
            case .taken:
                throw Fault(
                    "Another musterd uses \(path); stop it, or name another directory with --state-dir.", .tryAgain)
            }
        }
        TransferDirectory.clear(in: path)
        self.path = path
        storePath = Self.storePath(in: path)
    }

    /// Looks, without making anything, whether it is there or can be made.
    @discardableResult
    static func check(_ path: String) throws(Fault) -> DirectoryPath {
        let directory = DirectoryPath(path)
        let failure = directory.failure()
        guard failure == 0 else {
            throw directory.missing.isEmpty && failure != ENOTDIR ? notWritten(path, failure) : notMade(path, failure)
        }
        return directory
    }

    private static func notMade(_ path: String, _ failure: Int32) -> Fault {
        Fault(
            "The state directory \(path) cannot be made", failure, remedy: "make it, or name another with --state-dir.")
    }

    private static func notWritten(_ path: String, _ failure: Int32) -> Fault {
        Fault(
            "The state directory \(path) cannot be written", failure, remedy: "check its owner and mode, and its disk.")
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
