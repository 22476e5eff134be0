package import ArgumentParser
import Inventory

/// The names of a program's commands, for who has mistyped one.
package enum CommandNames {
    /// What is wrong with the words that should name a command, and what to do; nil when they name one.
    ///
    /// - Parameter arguments: those of the program, without its own name.
    package static func mistake(in arguments: [String], of program: any ParsableCommand.Type) -> String? {
        // 'muster help job list' is about 'muster job list'.
        let path = CommandPath(arguments.first == "help" ? Array(arguments.dropFirst()) : arguments, of: program)
        let known = path.command.configuration.subcommands
        guard !known.isEmpty, let word = path.rest.first, !word.hasPrefix("-"), word != "help" else { return nil }
        // Any few letters are near to any other few.
        let similar = known.flatMap(CommandPath.names).filter { word.count > 3 || $0.hasPrefix(word.prefix(1)) }
        let remedy =
            NearestName.of(word, among: similar).map { "did you mean '\(path.text) \($0)'?" }
            ?? "see '\(path.text) --help' for what there is."
        return "There is no command '\(path.text) \(word)'; \(remedy)"
    }
}
