/// Names and values in two columns; a long value goes on below itself.
struct Facts {
    private var pairs: [(name: String, value: String)] = []

    mutating func add(_ name: String, _ value: String) {
        pairs.append((name, Text.plain(value)))
    }

    func lines(width: Int, style: Style) -> [String] {
        let nameWidth = pairs.reduce(0) { max($0, Text.width($1.name)) } + 2
        let margin = String(repeating: " ", count: nameWidth)
        return pairs.flatMap { pair in
            let room = max(20, width - nameWidth)
            // What fits stays as it is, spaces and all.
            let parts = Text.width(pair.value) <= room ? [pair.value] : Text.wrapped(pair.value, to: room)
            let first = style.dim(Text.padded(pair.name, to: nameWidth)) + (parts.first ?? "")
            return [first] + parts.dropFirst().map { margin + $0 }
        }
    }

    /// For a program with a tab between, uncut.
    func lines(on terminal: Terminal) -> [String] {
        terminal.isPiped
            ? pairs.map { "\($0.name)\t\($0.value)" } : lines(width: terminal.width, style: terminal.style)
    }

    func print(on terminal: Terminal) {
        StandardOutput.lines(lines(on: terminal))
    }
}
