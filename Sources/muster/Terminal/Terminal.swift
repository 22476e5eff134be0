import Glibc

/// What standard output or standard error is connected to.
struct Terminal: Sendable {
    var isInteractive: Bool
    /// Whether a program reads it: no terminal, and nobody says how wide a line is to be, as watch(1) does.
    var isPiped = false
    /// Whether a picture can be drawn over the last one.
    var canRedraw = false
    /// In columns and rows. When it is no terminal: what COLUMNS says, else 80, and 24.
    var width: Int
    var height: Int
    var style: Style

    static var output: Terminal { of(STDOUT_FILENO) }
    static var error: Terminal { of(STDERR_FILENO) }

    /// The lines of a sentence: broken between words where a person reads them, and whole where a program may look for something.
    func lines(of sentence: String) -> [String] { isInteractive ? Text.wrapped(sentence, to: width) : [sentence] }

    private static func of(_ descriptor: Int32) -> Terminal {
        let isInteractive = isatty(descriptor) == 1
        var size = winsize()
        let known = isInteractive && ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        // https://no-color.org: any value that is not empty.
        let noColour = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        return Terminal(
            isInteractive: isInteractive,
            isPiped: !isInteractive && wantedWidth == nil,
            canRedraw: isInteractive && !isDumb,
            width: known ? Int(size.ws_col) : wantedWidth ?? 80,
            height: known ? Int(size.ws_row) : 24,
            style: Style(isColoured: isInteractive && !noColour && !isDumb))
    }
}

/// What the environment wants a line to be (POSIX.1, "COLUMNS").
private var wantedWidth: Int? {
    getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { (20...1000).contains($0) ? $0 : nil }
}

/// Colour and weight (ECMA-48 SGR), or nothing.
struct Style: Sendable {
    var isColoured: Bool

    static let plain = Style(isColoured: false)

    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func red(_ text: String) -> String { wrap(text, "31") }
    func green(_ text: String) -> String { wrap(text, "32") }
    func yellow(_ text: String) -> String { wrap(text, "33") }
    func cyan(_ text: String) -> String { wrap(text, "36") }

    private func wrap(_ text: String, _ code: String) -> String {
        isColoured && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
