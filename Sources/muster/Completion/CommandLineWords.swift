/// A command line as it stands when somebody asks for completions: its words as the shell would read them, and the one that is being
/// typed.
struct CommandLineWords: Equatable {
    /// Without the program's name.
    let before: [String]
    /// As far as it was typed, without its quotation marks.
    let current: String
    /// The mark that the current word has not been ended with yet.
    private(set) var openQuote: Character?

    /// - Parameter line: up to the cursor.
    init(line: String) {
        let (words, quote) = Self.split(line)
        openQuote = quote
        before = Array(words.dropFirst().dropLast())
        current = words.count > 1 ? words[words.count - 1] : ""
    }

    /// - Parameters:
    ///   - words: as a shell hands them over.
    ///   - index: of the one that is being typed.
    ///   - areQuoted: they stand there as they were typed.
    init(_ words: [String], index: Int, current: String, areQuoted: Bool) {
        let plain = { (word: String) in areQuoted ? Self.words(of: word).first ?? "" : word }
        before = words.prefix(index).dropFirst().map(plain)
        self.current = plain(current)
    }

    /// Options whose next word is no value of theirs; a test compares them with what the commands have.
    static let flags: Set<String> = [
        "--json", "--wide", "--yes", "--force", "--new", "--all", "--changes", "--prometheus",
        "--with-customer-data", "--version", "--help", "-h",
    ]

    /// The words that name something, behind those that name the command.
    ///
    /// - Parameter command: as `CommandPath` tells it.
    func positionals(of command: String) -> [String] {
        var rest = before.dropFirst(command.split(separator: " ").count - 1)
        var found: [String] = []
        while let word = rest.popFirst() {
            if word == "--" { return found + rest }
            guard word.hasPrefix("-"), word.count > 1 else {
                found.append(word)
                continue
            }
            if !Self.flags.contains(word), !word.contains("=") { rest = rest.dropFirst() }
        }
        return found
    }

    /// The value of an option, if it was given.
    func value(of option: String) -> String? {
        if let place = before.lastIndex(of: option), place + 1 < before.count { return before[place + 1] }
        return before.last { $0.hasPrefix(option + "=") }.map { String($0.dropFirst(option.count + 1)) }
    }

    /// As a POSIX shell splits and unquotes them (XCU 2.2); the last one may not have ended yet, and is empty behind a blank.
    static func words(of line: String) -> [String] { split(line).words }

    private static func split(_ line: String) -> (words: [String], openQuote: Character?) {
        var (words, word, quote, isEscaped) = ([String](), "", Character?.none, false)
        for letter in line {
            if isEscaped {
                if quote == "\"", !"\"\\$`".contains(letter) { word.append("\\") }
                word.append(letter)
                isEscaped = false
            } else if letter == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if letter == open { quote = nil } else { word.append(letter) }
            } else if letter == "\"" || letter == "'" {
                quote = letter
            } else if letter == " " || letter == "\t" {
                words.append(word)
                word = ""
            } else {
                word.append(letter)
            }
        }
        // Several blanks part two words no more than one does.
        return (words.filter { !$0.isEmpty } + [word], quote)
    }
}
