#if canImport(Glibc)
    import Glibc
#endif

/// Whether what a program prints has arrived: exit(3) writes what was gathered until then, and tells nobody that it could not.
package enum OutputCheck {
    /// Has the program end with a sentence and `outputFailed` instead. Once, at its beginning.
    package static func begin() {
        atexit {
            guard fflush(nil) != 0 else { return }
            let reason = String(cString: strerror(errno))
            let name = CommandLine.arguments.first?.split(separator: "/").last ?? "muster"
            let sentence = "\(name): The output cannot be written (\(reason)); let it go somewhere else.\n"
            _ = sentence.withCString { write(STDERR_FILENO, $0, strlen($0)) }
            _exit(SystemExit.outputFailed.rawValue)
        }
    }
}
