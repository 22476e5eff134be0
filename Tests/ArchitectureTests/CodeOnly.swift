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

    /// UTF-8: whatever ends a state is ASCII, and to look at characters takes a test ten times as long.
    private let source: [UInt8]
    private var at = 0
    private var state = State.code
    private var output: [UInt8] = []

    private static let newline = UInt8(ascii: "\n")
    /// Whether a byte may begin or end a state.
    private static let isMark = (UInt8.min...UInt8.max).map { "\n/*\"#\\".utf8.contains($0) }

    static func of(_ text: String) -> String {
        var scanner = CodeOnly(source: Array(text.utf8))
        while scanner.at < scanner.source.count {
            scanner.passToMark()
            if scanner.at < scanner.source.count { scanner.step() }
        }
        return String(decoding: scanner.output, as: UTF8.self)
    }

    private init(source: [UInt8]) {
        self.source = source
    }

    /// Copies or drops what stands before the next byte that matters.
    private mutating func passToMark() {
        let mark = source[at...].firstIndex { Self.isMark[Int($0)] } ?? source.count
        if state == .code { output += source[at..<mark] }
        at = mark
    }

    private func sees(_ token: String) -> Bool {
        source[at...].starts(with: token.utf8)
    }

    private func count(of character: Unicode.Scalar, from start: Int) -> Int {
        source[start...].prefix { $0 == UInt8(ascii: character) }.count
    }

    /// Copies newlines always, other bytes only when they are code.
    private mutating func advance(_ count: Int, keep: Bool) {
        for byte in source[at..<min(at + count, source.count)] {
            if keep || byte == Self.newline { output.append(byte) }
        }
        at += count
    }

    private mutating func step() {
        switch state {
        case .code: stepInCode()
        case .lineComment:
            if source[at] == Self.newline { state = .code }
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
        let hashes = count(of: "#", from: at)
        let quotes = count(of: "\"", from: at + hashes)
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
