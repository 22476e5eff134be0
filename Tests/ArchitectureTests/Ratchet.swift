/// No file is longer than this, so that none becomes the place where everything meets.
let longestFile = 350

/// Files that were too long when the rule came. The list may only shrink: split a file rather than add it here.
let longFiles: [String: Int] = [:]

/// Files that have grown too long, and exceptions that are no longer needed as they stand.
func lengthViolations(of files: [SourceFile], exceptions: [String: Int]) -> [Violation] {
    let code: Set<String> = ["swift", "py", "c", "h", "sh", "bash"]
    var violations: [Violation] = []
    for file in files where !file.isGenerated {
        let name = file.path.split(separator: "/").last ?? ""
        let kind = name.split(separator: ".").dropFirst().last.map(String.init)
        // Scripts have no extension but a first line that says what runs them.
        guard kind.map(code.contains) ?? file.text.hasPrefix("#!") else { continue }
        let limit = exceptions[file.path] ?? longestFile
        if file.lineCount > limit {
            violations.append(
                Violation(
                    path: file.path, line: limit,
                    message: "\(file.lineCount) lines; split it into files of one idea each, below \(longestFile)"))
        } else if exceptions[file.path] != nil, file.lineCount < limit {
            let remedy = file.lineCount <= longestFile ? "take it off the list" : "lower its number to that"
            violations.append(
                Violation(path: file.path, line: limit, message: "is down to \(file.lineCount) lines; \(remedy)"))
        }
    }
    let paths = Set(files.map(\.path))
    for path in exceptions.keys.sorted() where !paths.contains(path) {
        violations.append(Violation(path: path, line: 0, message: "is gone; take it off the list"))
    }
    return violations
}
