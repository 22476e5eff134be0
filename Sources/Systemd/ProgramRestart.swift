#if canImport(Glibc)
    import Glibc
#endif

extension ProgramStart {
    /// Puts this program in its own place, as one that was just started: of an upgrade meanwhile the new one. It is the same process for
    /// whoever watches it.
    ///
    /// - Throws: `RestartFault` when that cannot be.
    package static func again() throws(RestartFault) -> Never {
        // Until the new one listens to it again, it must not end by it.
        signal(SIGHUP, SIG_IGN)
        let words = CommandLine.arguments
        let program = words.first.flatMap { $0.contains("/") ? $0 : nil } ?? "/proc/self/exe"
        let failure = become(program, words)
        throw RestartFault(
            description: "The program \(program) cannot be started anew (\(String(cString: strerror(failure)))).")
    }

    /// Another program takes this one's place (execv(3)).
    ///
    /// - Parameter words: the first is what it is called.
    /// - Returns: errno, when that cannot be.
    package static func become(_ program: String, _ words: [String]) -> Int32 {
        var arguments = words.map { strdup($0) }
        arguments.append(nil)
        execv(program, arguments)
        return errno
    }
}

/// Why a program could not be put in its own place.
package struct RestartFault: Error, Sendable, CustomStringConvertible {
    package let description: String
}
