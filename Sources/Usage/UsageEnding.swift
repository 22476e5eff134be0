package import ArgumentParser

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How a program ends that was typed wrong or asked for its help, in the words of all other errors: ArgumentParser would say what is
/// wrong in a line, and how all of the program is used in the next ones.
package enum UsageEnding {
    /// What is wrong and where to read how it is right, in one sentence; nil when there is nothing to say.
    ///
    /// - Parameter arguments: those of the program, without its own name.
    package static func sentence(
        of error: any Error, in program: any ParsableCommand.Type, typed arguments: [String]
    ) -> String? {
        let lines = program.message(for: error).split(separator: "\n")
        let message = lines.map { $0.drop { $0 == " " } }.joined(separator: " ")
        guard !message.isEmpty else { return nil }
        var path = CommandPath(arguments, of: program)
        // Whoever has named no command means the one that the program is without.
        if path.command == program, let meant = program.configuration.defaultSubcommand { path.enter(meant) }
        let isSentence = message.last.map { ".?!".contains($0) } ?? false
        return message + (isSentence ? " See " : "; see ") + "'\(path.text) --help'."
    }

    /// Runs what was typed.
    package static func runTyped(_ program: any AsyncParsableCommand.Type) async throws {
        var command = try await program.asyncParseAsRoot()
        if var asynchronous = command as? any AsyncParsableCommand {
            try await asynchronous.run()
        } else {
            try command.run()
        }
    }

    /// The same, and ends the process unless that has come to its end.
    package static func run(_ program: any AsyncParsableCommand.Type) async {
        do {
            try await runTyped(program)
        } catch {
            let code = program.exitCode(for: error)
            if code == .success {
                print(program.fullMessage(for: error))
            } else if let sentence = sentence(
                of: error, in: program, typed: Array(CommandLine.arguments.dropFirst()))
            {
                let line = Array("\(program._commandName): \(sentence)\n".utf8)
                _ = write(STDERR_FILENO, line, line.count)
            }
            exit(code.rawValue)
        }
    }
}
