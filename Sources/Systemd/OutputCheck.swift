#if canImport(Glibc)
    import Glibc
#endif

/// Whether what a program prints has arrived: exit(3) writes what was gathered until then, and tells nobody that it could not.
package enum OutputCheck {
    /// Has the program end with a sentence and `outputFailed` instead. Once, at its beginning.
    package static func begin() {
        keepClosed()
        atexit {
            guard fflush(nil) != 0 else { return }
            let name = CommandLine.arguments.first?.split(separator: "/").last ?? "muster"
            let sentence = "\(name): The output cannot be written (\(OutputCheck.reason)); let it go somewhere else.\n"
            _ = sentence.withCString { write(STDERR_FILENO, $0, strlen($0)) }
            _exit(SystemExit.outputFailed.rawValue)
        }
    }

    /// Keeps an output that is closed (`>&-` in a shell) so: what is opened next, a store's file even, would have its number, and get what
    /// is printed. Once, at the program's beginning.
    package static func keepClosed() {
        while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 {
            guard descriptor > STDERR_FILENO else { continue }
            close(descriptor)
            return
        }
    }

    /// Why the last write failed, by errno.
    package static var reason: String { errno == EBADF ? "it is closed" : String(cString: strerror(errno)) }
}
