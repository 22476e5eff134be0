import HTTPCoding

/// One place of a table: as people read it, and as a program takes it.
struct Cell: Equatable, ExpressibleByStringInterpolation {
    /// Stands for what is not known or not there.
    static let none = Cell(shown: "–", exact: "")

    /// For people: short, with units and commas.
    let shown: String
    /// For programs, and to sort by: the whole id, a number without commas, RFC 3339 in UTC; empty for what is not there.
    let exact: String

    init(shown: String, exact: String) {
        self.shown = Text.plain(shown)
        self.exact = Text.plain(exact)
    }

    /// The same for both.
    init(_ text: String) { self.init(shown: text, exact: text) }

    init(stringLiteral text: String) { self.init(text) }

    /// A text, or none.
    init(_ text: String?) { self = text.map { Cell($0) } ?? .none }

    static func count(_ value: Int) -> Cell { Cell(shown: Formats.count(value), exact: "\(value)") }

    static func time(_ time: Timestamp?) -> Cell {
        time.map { Cell(shown: Formats.time($0), exact: $0.description) } ?? .none
    }

    /// With its seconds.
    static func exactTime(_ time: Timestamp) -> Cell {
        Cell(shown: Formats.exactTime(time), exact: time.description)
    }

    /// An id in the short form of its list.
    static func id(_ id: String, _ short: ShortIDs) -> Cell { Cell(shown: short[id], exact: id) }

    /// A random id, such as a device's.
    static func id(_ id: String?) -> Cell {
        id.map { Cell(shown: ShortIDs.random($0), exact: $0) } ?? .none
    }

    /// Where it says what the row above says: a program takes each row by itself, and people have read it.
    var repeated: Cell { Cell(shown: "", exact: exact) }

    /// Whether it says nothing.
    var isEmpty: Bool { shown.isEmpty || shown == Self.none.shown }

    /// The order of `--sort`: numbers by size, texts by their letters whether small or capital; what says nothing stands last.
    func precedes(_ other: Cell) -> Bool {
        guard !exact.isEmpty, !other.exact.isEmpty else { return other.exact.isEmpty && !exact.isEmpty }
        if let number = Double(exact), let otherNumber = Double(other.exact) { return number < otherNumber }
        let (text, otherText) = (exact.lowercased(), other.exact.lowercased())
        return text == otherText ? exact < other.exact : text < otherText
    }
}
