#if canImport(Glibc)
    import Glibc
#endif

/// What another program prints, for whoever only wants to read that.
package struct ProgramOutput: Sendable {
    /// Why there is nothing to read: half a sentence.
    package struct Fault: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// Its standard output.
    package let bytes: [UInt8]

    /// Runs a program to its end, without input; what it says on standard error is passed over.
    ///
    /// - Parameters:
    ///   - words: the first is the program, which is looked for as a shell does.
    ///   - mostBytes: a program that prints more is ended.
    ///   - seconds: and so is one that takes longer.
    /// - Throws: `Fault` for a program that is not there, was ended or has failed.
    package init(of words: [String], mostBytes: Int, seconds: Int) throws(Fault) {
        let name = words.first ?? ""
        var ends: [Int32] = [-1, -1]
        // No other program that is started meanwhile may hold an end of it.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Fault(description: "there is no way to read it") }
        defer { close(ends[0]) }
        guard let process = Self.spawn(words, writingTo: ends[1]) else {
            close(ends[1])
            throw Fault(description: "\(name) is not installed here")
        }
        close(ends[1])
        var bytes: [UInt8] = []
        let ending = Self.read(ends[0], into: &bytes, mostBytes: mostBytes, seconds: seconds)
        if ending != nil { kill(process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        if let ending { throw Fault(description: "\(name) \(ending)") }
        guard status == 0 else { throw Fault(description: "\(name) has failed") }
        self.bytes = bytes
    }

    /// - Returns: nil when it cannot be started.
    private static func spawn(_ words: [String], writingTo output: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        var process: pid_t = 0
        guard let name = words.first, posix_spawnp(&process, name, &actions, nil, arguments, environ) == 0 else {
            return nil
        }
        return process
    }

    /// - Returns: why it has to be ended; nil at its end.
    private static func read(
        _ descriptor: Int32, into bytes: inout [UInt8], mostBytes: Int, seconds: Int
    ) -> String? {
        let deadline = Self.seconds + seconds
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= mostBytes {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = deadline - Self.seconds
            guard left > 0 else { return "did not end in time" }
            guard poll(&waiting, 1, Int32(left * 1_000)) > 0 else { continue }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return nil }
            if count < 0 {
                if errno == EINTR { continue }
                return "cannot be read"
            }
            bytes += buffer[..<count]
        }
        return "prints too much"
    }

    /// Of a clock that nobody sets.
    private static var seconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec
    }
}
