package import ArgumentParser

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How a program ends whose command line is wrong or asks for help, in the words of all other errors: ArgumentParser would say what
/// is wrong in a line, and how the program is used in the next ones.
package enum UsageEnding {
    /// What is wrong and where to read how it is right, in one line; nil when there is nothing to say.
    ///
    /// - Parameter arguments: those of the program, without its own name.
    package static func sentence(
        of error: any Error, in program: any ParsableCommand.Type, typed arguments: [String]
    ) -> String? {
        let lines = program.message(for: error).split(separator: "\n")
        let message = lines.map { $0.drop { $0 == " " } }.joined(separator: " ")
        guard !message.isEmpty else { return nil }
        // The parser knows a command that stands behind options, and the one that runs without a name. What a command itself has
        // refused it tells of the program: there the words know more.
        let typed = CommandPath(arguments, of: program).text
        let parsed = parsedPath(program.fullMessage(for: error)) ?? ""
        let path = parsed.count > typed.count ? parsed : typed
        let isSentence = message.last.map { ".?!".contains($0) } ?? false
        return message + (isSentence ? " See " : "; see ") + "'\(path) --help'."
    }

    /// From ArgumentParser's "See 'musterd rollback --help' for more information.", which it offers in no other form.
    private static func parsedPath(_ message: String) -> String? {
        let (before, after) = ("  See '", " --help' for more information.")
        return message.split(separator: "\n").last { $0.hasPrefix(before) && $0.hasSuffix(after) }
            .map { String($0.dropFirst(before.count).dropLast(after.count)) }
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
        let typed = Array(CommandLine.arguments.dropFirst())
        if let mistake = CommandNames.mistake(in: typed, of: program) { end(program, mistake, code: EX_USAGE) }
        do {
            try await runTyped(program)
        } catch {
            let code = program.exitCode(for: error)
            if code == .success {
                print(program.fullMessage(for: error))
                exit(EXIT_SUCCESS)
            }
            end(program, sentence(of: error, in: program, typed: typed), code: code.rawValue)
        }
    }

    private static func end(_ program: any ParsableCommand.Type, _ sentence: String?, code: Int32) -> Never {
        if let sentence {
            let line = Array("\(program._commandName): \(sentence)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
        }
        exit(code)
    }
}
