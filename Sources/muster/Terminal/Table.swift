/// Rows under titles, never wider than the terminal; of what its `Layout` is used for later, text alone is cut.
struct Table {
    struct Column {
        var title: String
        var alignment = Text.Alignment.left
        /// Whether it may be cut when the table is too wide.
        var isFlexible = false

        /// Text that may be cut.
        static func text(_ title: String) -> Column { Column(title: title, isFlexible: true) }
        /// Text that is shown whole, such as an id.
        static func whole(_ title: String) -> Column { Column(title: title) }
        static func number(_ title: String) -> Column { Column(title: title, alignment: .right) }
    }

    private static let narrowest = 8

    var columns: [Column]
    var rows: [[String]] = []

    init(_ columns: [Column]) {
        self.columns = columns
    }

    mutating func add(_ cells: String...) {
        add(cells)
    }

    mutating func add(_ cells: [String]) {
        rows.append(cells.map(Text.plain))
    }

    func lines(width: Int, style: Style = .plain) -> [String] {
        let layout = layout(width: width)
        return [layout.head(style)] + rows.map(layout.line)
    }

    func print(on terminal: Terminal) {
        StandardOutput.lines(lines(width: terminal.width, style: terminal.style))
    }

    /// As wide as the rows want, if the terminal is.
    func layout(width: Int) -> Layout {
        let wanted = columns.indices.map { index in
            rows.reduce(Text.width(columns[index].title)) { max($0, index < $1.count ? Text.width($1[index]) : 0) }
        }
        return Layout(columns: columns, widths: fitted(wanted, to: width), wanted: wanted)
    }

    /// Takes columns from the widest flexible column until the table fits, then from any.
    private func fitted(_ wanted: [Int], to width: Int) -> [Int] {
        var widths = wanted
        for isFlexibleOnly in [true, false] {
            while widths.reduce(0, +) + Layout.gap * (widths.count - 1) > width {
                let candidates = widths.indices.filter { index in
                    (columns[index].isFlexible || !isFlexibleOnly) && widths[index] > Self.narrowest
                }
                guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
                widths[widest] -= 1
            }
        }
        return widths
    }
}

extension Table {
    /// How wide each column is.
    struct Layout {
        fileprivate static let gap = 2

        fileprivate let columns: [Column]
        fileprivate let widths: [Int]
        fileprivate let wanted: [Int]

        func head(_ style: Style) -> String { style.bold(line(columns.map(\.title))) }

        /// Any row, also one that the widths were not made for: its text is cut, and what is no text is shown whole.
        func line(_ cells: [String]) -> String {
            var line = ""
            for (index, cell) in cells.enumerated() where index < widths.count {
                let isLast = index == widths.count - 1
                let isWhole = !columns[index].isFlexible && widths[index] == wanted[index]
                let text = isWhole ? cell : Text.fitted(cell, to: widths[index])
                if isLast && columns[index].alignment == .left {
                    line += text
                } else {
                    line += Text.padded(text, to: widths[index], alignment: columns[index].alignment)
                    if !isLast { line += String(repeating: " ", count: Self.gap) }
                }
            }
            while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
            return line
        }
    }
}
