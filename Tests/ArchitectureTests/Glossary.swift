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

    func violations(in file: SourceFile) throws -> [Violation] {
        // Nearly every file has none of them even in its prose.
        guard retired.contains(where: file.text.contains) else { return [] }
        let code = CodeOnly.of(file.text)
        let pattern = try Regex("\\b(\(retired.joined(separator: "|")))\\b").wordBoundaryKind(.simple)
        return code.matches(of: pattern).map { match in
            let line = code[..<match.range.upperBound].count(where: \.isNewline) + 1
            return Violation(path: file.path, line: line, message: "'\(code[match.range])': see docs/glossary.md")
        }
    }
}
