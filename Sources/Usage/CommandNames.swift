package import ArgumentParser
import Inventory

/// The names of a program's commands, for who has mistyped one.
package enum CommandNames {
    /// What is wrong with the words that should name a command, and what to do; nil when they name one.
    ///
    /// - Parameter arguments: those of the program, without its own name.
    package static func mistake(in arguments: [String], of program: any ParsableCommand.Type) -> String? {
        var words = arguments[...]
        // 'muster help job list' is about 'muster job list'.
        if words.first == "help" { words = words.dropFirst() }
        var command = program
        var path = program._commandName
        while !command.configuration.subcommands.isEmpty, let word = words.popFirst(), !word.hasPrefix("-") {
            let known = command.configuration.subcommands
            guard let next = known.first(where: { CommandPath.names(of: $0).contains(word) }) else {
                if word == "help" { return nil }
                // Any few letters are near to any other few.
                let similar = known.flatMap(CommandPath.names).filter { word.count > 3 || $0.hasPrefix(word.prefix(1)) }
                let nearest = NearestName.of(word, among: similar).map {
                    "did you mean '\(path) \($0)'?"
                }
                return "There is no command '\(path) \(word)'; \(nearest ?? "see '\(path) --help' for what there is.")"
            }
            path += " \(next._commandName)"
            command = next
        }
        return nil
    }
}
