/// How each shell takes an offer, in a line of its own.
enum Shell: String {
    case bash, zsh, fish, other

    /// - Parameter piece: the part of the current word behind the last colon or equals sign, where bash breaks words; as it was typed.
    func line(_ offer: Offer, for words: CommandLineWords, piece: String?) -> String {
        let meaning = Text.plain(offer.meaning)
        switch self {
        case .bash:
            // What stands before the piece stays as it was typed.
            let piece = piece ?? ""
            let typed = words.openQuote == nil ? CommandLineWords.words(of: piece).first ?? "" : piece
            let rest = offer.word.dropFirst(max(0, words.current.count - typed.count))
            return Self.escaped(rest, within: words.openQuote)
        // zsh reads the meaning behind the first colon, fish behind a tab.
        case .zsh:
            let word = Self.escaped(offer.word)
            return meaning.isEmpty ? word : "\(word):\(Self.escaped(meaning))"
        case .fish: return meaning.isEmpty ? offer.word : "\(offer.word)\t\(meaning)"
        case .other: return offer.word
        }
    }

    /// As zsh's `_describe` reads it: by bytes, since a colon with a combining mark behind it is another character of Swift's.
    private static func escaped(_ text: String) -> String {
        let marks = Set(":\\".utf8)
        return String(
            decoding: text.utf8.flatMap { marks.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }, as: UTF8.self)
    }

    /// As bash reads it where it is typed. Its own quoting of file names leaves `$` and `)` as they are.
    ///
    /// readline ends a quotation by itself, but not where the text ends in that very mark: there the quotation is ended before it.
    private static func escaped(_ text: Substring, within quote: Character?) -> String {
        if let quote, text.utf8.last == quote.utf8.first {
            return marked(Substring(text.unicodeScalars.dropLast()), within: quote) + "\(quote)\\\(quote)"
        }
        return marked(text, within: quote)
    }

    private static func marked(_ text: Substring, within quote: Character?) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch quote {
            case "'": bytes += byte == UInt8(ascii: "'") ? Array("'\\''".utf8) : [byte]
            case "\"": bytes += "\"\\$`".utf8.contains(byte) ? [UInt8(ascii: "\\"), byte] : [byte]
            default: bytes += byte < 0x80 && !ShellWord.bare.contains(byte) ? [UInt8(ascii: "\\"), byte] : [byte]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
