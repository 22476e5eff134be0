/// How many declarations that other modules see say what they mean.
///
/// The format's own rule looks only at `public` ones; between the modules of this package `package` is what is public.
struct Documentation {
    private(set) var declared = 0
    private(set) var bare: [Violation] = []

    /// Of a hundred.
    var documentedPercent: Int { declared == 0 ? 100 : (declared - bare.count) * 100 / declared }

    init(_ files: [SourceFile]) {
        for file in files where !file.isGenerated { count(file) }
    }

    private mutating func count(_ file: SourceFile) {
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            guard line.firstMatch(of: Self.declaration) != nil else { continue }
            declared += 1
            // Attributes may stand between.
            let above = lines[..<index].last { $0.firstMatch(of: /^\s*@/) == nil } ?? ""
            guard above.firstMatch(of: /^\s*\/\/\//) == nil else { continue }
            bare.append(Violation(path: file.path, line: index + 1, message: "has no documentation comment"))
        }
    }

    private nonisolated(unsafe) static let declaration =
        /^\s*(@\w+(\([^)]*\))?\s+)*(package|public)\s+([a-z]+(\(set\))?\s+)*?(func|var|let|init|struct|enum|class|actor|protocol|typealias|subscript)\b/
}
