package import ArgumentParser

/// The command that a program's words name, as far as they name one.
package struct CommandPath {
    /// As people type it: "muster job list".
    package let text: String
    package let command: any ParsableCommand.Type

    /// - Parameter arguments: those of the program, without its own name.
    package init(_ arguments: [String], of program: any ParsableCommand.Type) {
        var (path, command) = (program._commandName, program)
        for word in arguments {
            guard let next = command.configuration.subcommands.first(where: { Self.names(of: $0).contains(word) })
            else { break }
            path += " \(next._commandName)"
            command = next
        }
        (text, self.command) = (path, command)
    }

    /// A command's name, then what else it is called.
    package static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }
}
