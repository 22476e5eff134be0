import ArgumentParser
import Inventory

/// The names of the commands, for who has mistyped one.
enum CommandNames {
    /// What is wrong with the words that should name a command, and what to do; nil when they name one.
    ///
    /// - Parameter arguments: those of the program, without its own name.
    static func mistake(in arguments: [String]) -> String? {
        var words = arguments[...]
        // 'muster help job list' is about 'muster job list'.
        if words.first == "help" { words = words.dropFirst() }
        var command: any ParsableCommand.Type = Muster.self
        var path = "muster"
        while !command.configuration.subcommands.isEmpty, let word = words.popFirst(), !word.hasPrefix("-") {
            let known = command.configuration.subcommands
            guard let next = known.first(where: { names(of: $0).contains(word) }) else {
                if word == "help" { return nil }
                // Any few letters are near to any other few.
                let similar = known.flatMap(names).filter { word.count > 3 || $0.hasPrefix(word.prefix(1)) }
                let nearest = NearestName.of(word, among: similar).map {
                    "did you mean '\(path) \($0)'?"
                }
                return "There is no command '\(path) \(word)'; \(nearest ?? "see '\(path) --help' for what there is.")"
            }
            path += " \(names(of: next)[0])"
            command = next
        }
        return nil
    }

    /// The command that the words name, as far as they name one, as people type it.
    static func path(in arguments: [String]) -> String { command(in: arguments).path }

    /// The same, and what it is.
    static func command(in arguments: [String]) -> (path: String, type: any ParsableCommand.Type) {
        var (command, path) = (Muster.self as any ParsableCommand.Type, "muster")
        for word in arguments {
            guard let next = command.configuration.subcommands.first(where: { names(of: $0).contains(word) }) else {
                break
            }
            path += " \(names(of: next)[0])"
            command = next
        }
        return (path, command)
    }

    /// Its name first.
    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName].compactMap(\.self) + command.configuration.aliases
    }
}
