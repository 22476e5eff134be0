/// The words of docs/glossary.md that the code does not use any more.
struct Glossary {
    let retired: [String]

    /// Reads the last column of its table: words in backquotes.
    init(_ text: String) throws {
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2)
        retired = rows.flatMap { row in
            let cells = row.split(separator: "|", omittingEmptySubsequences: false)
            return cells.dropLast().last.map { $0.matches(of: /`(\w+)`/).map { String($0.output.1) } } ?? []
        }
    }

    func retiredWords(in file: SourceFile) throws -> [Violation] {
        // Nearly every file has none of them even in its prose.
        guard retired.contains(where: file.text.contains) else { return [] }
        let rule = BannedCall(
            pattern: "\\b(\(retired.joined(separator: "|")))\\b", insteadUse: "see docs/glossary.md")
        return try violations(of: [rule], in: file)
    }
}
