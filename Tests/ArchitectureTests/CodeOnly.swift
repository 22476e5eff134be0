/// Swift source with comments and the contents of string literals blanked out, line by line as before, so that a rule
/// on code is neither broken nor satisfied by prose.
///
/// Good enough for rules, no parser: code inside an interpolation counts as string.
struct CodeOnly {
    private enum State: Equatable {
        case code
        case lineComment
        case blockComment(depth: Int)
        case string(hashes: Int)
        case multilineString(hashes: Int)
    }

    private let source: [Character]
    private var at = 0
    private var state = State.code
    private var output = ""

    static func of(_ text: String) -> String {
        var scanner = CodeOnly(source: Array(text))
        while scanner.at < scanner.source.count { scanner.step() }
        return scanner.output
    }

    private init(source: [Character]) {
        self.source = source
    }

    private func sees(_ token: String) -> Bool {
        let end = at + token.count
        return end <= source.count && source[at..<end].elementsEqual(token)
    }

    /// Copies newlines always, other characters only when they are code.
    private mutating func advance(_ count: Int, keep: Bool) {
        for character in source[at..<min(at + count, source.count)] {
            if keep || character.isNewline { output.append(character) }
        }
        at += count
    }

    private mutating func step() {
        switch state {
        case .code: stepInCode()
        case .lineComment:
            if source[at].isNewline { state = .code }
            advance(1, keep: false)
        case .blockComment(let depth):
            if sees("*/") {
                state = depth == 1 ? .code : .blockComment(depth: depth - 1)
                advance(2, keep: false)
            } else if sees("/*") {
                state = .blockComment(depth: depth + 1)
                advance(2, keep: false)
            } else {
                advance(1, keep: false)
            }
        case .string(let hashes): stepInString("\"", hashes)
        case .multilineString(let hashes): stepInString("\"\"\"", hashes)
        }
    }

    private mutating func stepInCode() {
        if sees("//") {
            state = .lineComment
            return advance(2, keep: false)
        }
        if sees("/*") {
            state = .blockComment(depth: 1)
            return advance(2, keep: false)
        }
        let hashes = source[at...].prefix { $0 == "#" }.count
        let quotes = source[(at + hashes)...].prefix { $0 == "\"" }.count
        if quotes >= 3 {
            state = .multilineString(hashes: hashes)
            advance(hashes + 3, keep: true)
        } else if quotes == 1 || quotes == 2 {
            state = .string(hashes: hashes)
            advance(hashes + 1, keep: true)
        } else {
            advance(max(hashes, 1), keep: true)
        }
    }

    private mutating func stepInString(_ quote: String, _ hashes: Int) {
        let raw = String(repeating: "#", count: hashes)
        if sees("\\" + raw) {
            advance(2 + hashes, keep: false)
        } else if sees(quote + raw) {
            state = .code
            advance(quote.count + hashes, keep: true)
        } else {
            advance(1, keep: false)
        }
    }
}
