/// Text that came from other devices, made fit for a terminal.
enum Text {
    /// Without control characters, which could drive the terminal; line breaks become spaces.
    static func plain(_ text: String) -> String {
        // Most is ASCII, of which no property has to be looked up.
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append(isUnsafe(scalar) ? (scalar.properties.isWhitespace ? " " : "\u{FFFD}") : scalar)
        }
        return String(result)
    }

    /// In columns.
    static func width(_ text: String) -> Int {
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + width($1) }
    }

    /// Cut to a number of columns, with an ellipsis where something is missing.
    static func fitted(_ text: String, to columns: Int) -> String {
        guard width(text) > columns else { return text }
        var result = ""
        var used = 1
        for character in text {
            used += width(character)
            if used > columns { break }
            result.append(character)
        }
        return columns > 0 ? result + "…" : ""
    }

    /// Broken between words into lines of so many columns; a word that is longer stands alone.
    static func wrapped(_ text: String, to columns: Int) -> [String] {
        var lines: [String] = []
        for word in words(of: text, atMost: columns) {
            if let last = lines.last, width(last) + 1 + width(word) <= columns {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(word)
            }
        }
        return lines
    }

    /// What is not broken: words, and commands in quotation marks that fit a line, since people copy them.
    private static func words(of text: String, atMost columns: Int) -> [String] {
        var words: [String] = []
        var command: [String]?
        for word in text.split(separator: " ").map(String.init) {
            let whole = (command ?? []) + [word]
            guard command != nil || word.hasPrefix("'muster") || word.hasPrefix("('muster") else {
                words.append(word)
                continue
            }
            let joined = whole.joined(separator: " ")
            if joined.dropFirst(2).contains("'") || width(joined) > columns {
                words += width(joined) > columns ? whole : [joined]
                command = nil
            } else {
                command = whole
            }
        }
        return words + (command ?? [])
    }

    static func padded(_ text: String, to columns: Int, alignment: Alignment = .left) -> String {
        let space = String(repeating: " ", count: max(0, columns - width(text)))
        return alignment == .left ? text + space : space + text
    }

    enum Alignment: Sendable {
        case left
        case right
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        // Marks that turn the direction of the rest of the line (UAX #9).
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: false
        }
    }

    /// Two columns for what East Asian terminals draw wide (the ranges W and F of UAX #11, in blocks) and for emoji.
    private static func width(_ character: Character) -> Int {
        // A property of a scalar costs more than all the rest.
        if let ascii = character.asciiValue, ascii >= 0x20, ascii < 0x7F { return 1 }
        guard let first = character.unicodeScalars.first else { return 0 }
        // A family is one character, of which most terminals draw each member (UTS #51, "ZWJ sequences").
        if character.unicodeScalars.contains("\u{200D}") {
            return max(2, character.unicodeScalars.reduce(0) { $0 + ($1.properties.isEmojiPresentation ? 2 : 0) })
        }
        if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default:
            let category = first.properties.generalCategory
            return category == .nonspacingMark || category == .enclosingMark || category == .format ? 0 : 1
        }
    }
}
