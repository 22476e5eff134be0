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
        let failure = Self.make(path[...])
        guard failure == 0 else { throw Self.notMade(path, failure) }
        let lock = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Self.notWritten(path, errno) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw Fault("Another musterd uses \(path); stop it, or name another directory with --state-dir.", .tryAgain)
        }
        TransferDirectory.clear(in: path)
        self.path = path
        storePath = Self.storePath(in: path)
    }

    /// Looks, without making anything, whether it is there or can be made.
    static func check(_ path: String) throws(Fault) {
        var place = path
        while access(place, F_OK) != 0 {
            guard errno == ENOENT, place != "." else { throw notMade(path, errno) }
            guard let slash = place.lastIndex(of: "/") else {
                place = "."
                continue
            }
            place = slash > place.startIndex ? String(place[..<slash]) : "/"
        }
        // A file has nothing below it.
        guard access(place + "/.", W_OK | X_OK) == 0 else {
            throw place == path && errno != ENOTDIR ? notWritten(path, errno) : notMade(path, errno)
        }
    }

    private static func notMade(_ path: String, _ failure: Int32) -> Fault {
        Fault(
            "The state directory \(path) cannot be made", failure, remedy: "make it, or name another with --state-dir.")
    }

    private static func notWritten(_ path: String, _ failure: Int32) -> Fault {
        Fault(
            "The state directory \(path) cannot be written", failure, remedy: "check its owner and mode, and its disk.")
    }

    /// With its parents, each closed to others.
    ///
    /// - Returns: 0, or errno.
    private static func make(_ path: Substring) -> Int32 {
        guard mkdir(String(path), 0o700) != 0 else { return 0 }
        // What else may have this name shows when it is written into.
        guard errno != EEXIST else { return 0 }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return errno }
        let failure = make(path[..<slash])
        guard failure == 0 else { return failure }
        return mkdir(String(path), 0o700) == 0 || errno == EEXIST ? 0 : errno
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
