/// What a shell reads as one word (POSIX.1, "Quoting"): for commands that are printed to be typed, or pasted.
enum ShellWord {
    private static let bare = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+,:=@%/".utf8)

    static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy(bare.contains) { return text }
        // Between these an interactive shell still looks at four characters, and at "!" for its history.
        if !text.contains(where: { "\"\\$`!".contains($0) }) { return "\"\(text)\"" }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
