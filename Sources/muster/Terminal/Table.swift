/// Rows under titles. On a terminal it is never wider than that, and of what its `Layout` is used for later text alone is cut;
/// for a program each row is a line of exact values with tabs between them, uncut and without titles.
struct Table {
    struct Column {
        var title: String
        var alignment = Text.Alignment.left
        /// Whether it may be cut when the table is too wide.
        var isFlexible = false
        /// Whether it may be left out when the table is too wide.
        var isOptional = false

        /// Text that may be cut.
        static func text(_ title: String) -> Column { Column(title: title, isFlexible: true) }
        /// Text that is shown whole, such as an id.
        static func whole(_ title: String) -> Column { Column(title: title) }
        static func number(_ title: String) -> Column { Column(title: title, alignment: .right) }

        /// The same, left out where there is no room for all.
        var optional: Column {
            var column = self
            column.isOptional = true
            return column
        }
    }

    var columns: [Column]
    var rows: [[Cell]] = []
    /// What shows columns that there was no room for.
    var remedy = "a wider terminal"

    init(_ columns: [Column]) {
        self.columns = columns
    }

    mutating func add(_ cells: Cell...) {
        rows.append(cells)
    }

    mutating func add(_ cells: [Cell]) {
        rows.append(cells)
    }

    func lines(on terminal: Terminal) -> [String] {
        terminal.isPiped ? rows.map(Self.exactLine) : lines(width: terminal.width, style: terminal.style)
    }

    /// For people.
    func lines(width: Int, style: Style = .plain) -> [String] {
        let layout = layout(width: width)
        return [layout.head(style)] + rows.map(layout.line) + layout.foot(style, width: width)
    }

    func print(on terminal: Terminal) {
        StandardOutput.lines(lines(on: terminal))
    }

    /// No text holds a tab or a line's end: `Text.plain` has made spaces of them.
    static func exactLine(_ cells: [Cell]) -> String {
        cells.map(\.exact).joined(separator: "\t")
    }
}
