package import ArgumentParser

/// The command that a program's words name, as far as they name one.
package struct CommandPath {
    /// As people type it: "muster job list".
    package let text: String
    package let command: any ParsableCommand.Type
    /// What follows.
    let rest: ArraySlice<String>

    /// - Parameter arguments: those of the program, without its own name.
    package init(_ arguments: [String], of program: any ParsableCommand.Type) {
        var (path, command, rest) = (program._commandName, program, arguments[...])
        while let word = rest.first,
            let next = command.configuration.subcommands.first(where: { Self.names(of: $0).contains(word) })
        {
            path += " \(next._commandName)"
            command = next
            rest.removeFirst()
        }
        (text, self.command, self.rest) = (path, command, rest)
    }

    /// A command's name, then what else it is called.
    static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }
}
