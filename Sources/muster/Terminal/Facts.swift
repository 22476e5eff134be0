/// Names and values in two columns.
struct Facts {
    private var pairs: [(name: String, value: String)] = []

    mutating func add(_ name: String, _ value: String) {
        pairs.append((name, Text.plain(value)))
    }

    func lines(width: Int, style: Style) -> [String] {
        let nameWidth = pairs.reduce(0) { max($0, Text.width($1.name)) } + 2
        return pairs.map { pair in
            style.dim(Text.padded(pair.name, to: nameWidth)) + Text.fitted(pair.value, to: width - nameWidth)
        }
    }

    func print(on terminal: Terminal) {
        StandardOutput.lines(lines(width: terminal.width, style: terminal.style))
    }
}
