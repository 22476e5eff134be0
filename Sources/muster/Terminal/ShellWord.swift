/// What a shell reads as one word (POSIX.1, "Quoting"): for commands that are printed to be typed, or pasted.
enum ShellWord {
    /// What no shell reads as anything else, wherever it stands.
    static let bare = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+,:=@%/".utf8)

    /// A command as it is pasted.
    static func command(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy(bare.contains) { return text }
        // By bytes, as a shell reads: with a combining mark behind it a quotation mark is another character of Swift's.
        let bytes = Array(text.utf8)
        // Between these an interactive shell still looks at four characters, and at "!" for its history.
        if !bytes.contains(where: "\"\\$`!".utf8.contains) { return "\"\(text)\"" }
        let parts = bytes.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + String(decoding: Array(parts.joined(separator: Array("'\\''".utf8))), as: UTF8.self) + "'"
    }
}
