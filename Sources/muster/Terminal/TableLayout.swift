extension Table {
    /// Which columns there is room for, and how wide each is.
    struct Layout {
        fileprivate static let gap = 2

        fileprivate let columns: [Column]
        fileprivate let wanted: [Int]
        fileprivate let remedy: String
        /// Nil for a column that is left out.
        fileprivate var widths: [Int?]

        func head(_ style: Style) -> String { style.bold(line(columns.map { Cell($0.title) })) }

        /// Any row, also one that the widths were not made for: its text is cut, and what is no text is shown whole.
        func line(_ cells: [Cell]) -> String {
            var line = ""
            let last = widths.lastIndex { $0 != nil }
            for (index, cell) in cells.enumerated() where index < widths.count {
                guard let width = widths[index] else { continue }
                let isWhole = !columns[index].isFlexible && width == wanted[index]
                let text = isWhole ? cell.shown : Text.fitted(cell.shown, to: width)
                if index == last && columns[index].alignment == .left {
                    line += text
                } else {
                    line += Text.padded(text, to: width, alignment: columns[index].alignment)
                    if index != last { line += String(repeating: " ", count: Self.gap) }
                }
            }
            while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
            return line
        }

        /// What is said below of columns that were left out although they say something.
        func foot(_ style: Style, width: Int) -> [String] {
            guard !leftOut.isEmpty else { return [] }
            let text = "No room for \(leftOut.joined(separator: ", ")): \(remedy) shows them."
            return Text.wrapped(text, to: width).map(style.dim)
        }

        /// The titles of those that were left out for want of room.
        fileprivate(set) var leftOut: [String] = []
    }

    /// As wide as the rows want, if the terminal is. Else columns without a word in them give way, then texts are cut to
    /// what is still readable, then optional columns are left out from the right, then the rest is cut.
    func layout(width: Int) -> Layout {
        let wanted = columns.indices.map { index in
            rows.reduce(Text.width(columns[index].title)) {
                max($0, index < $1.count ? Text.width($1[index].shown) : 0)
            }
        }
        var layout = Layout(columns: columns, wanted: wanted, remedy: remedy, widths: wanted)
        for index in columns.indices.reversed() where columns[index].isOptional && !layout.fits(width) {
            let isEmpty = rows.allSatisfy { index >= $0.count || $0[index].isEmpty }
            if isEmpty, !rows.isEmpty { layout.widths[index] = nil }
        }
        layout.cut(to: width, atLeast: Layout.readable) { columns[$0].isFlexible }
        for index in columns.indices.reversed() where columns[index].isOptional && !layout.fits(width) {
            guard layout.widths[index] != nil else { continue }
            layout.widths[index] = nil
            layout.leftOut.insert(columns[index].title, at: 0)
        }
        // What was left out may have made more room than was needed; or it was not enough.
        layout.spread(over: width) { columns[$0].isFlexible }
        layout.cut(to: width, atLeast: Layout.narrowest) { _ in true }
        return layout
    }
}

extension Table.Layout {
    /// A text that is cut to less says little.
    fileprivate static let readable = 14
    fileprivate static let narrowest = 8

    fileprivate func fits(_ width: Int) -> Bool {
        let shown = widths.compactMap(\.self)
        return shown.reduce(0, +) + Self.gap * max(0, shown.count - 1) <= width
    }

    /// Takes from the widest of some columns until the table fits.
    fileprivate mutating func cut(to width: Int, atLeast least: Int, _ mayCut: (Int) -> Bool) {
        while !fits(width) {
            let candidates = widths.indices.filter { mayCut($0) && widths[$0] ?? 0 > least }
            guard let widest = candidates.max(by: { widths[$0] ?? 0 < widths[$1] ?? 0 }) else { return }
            widths[widest] = widths[widest].map { $0 - 1 }
        }
    }

    /// Gives to the narrowest that are cut as long as the table fits, and takes from the widest where it does not.
    fileprivate mutating func spread(over width: Int, _ mayGrow: (Int) -> Bool) {
        while fits(width) {
            let candidates = widths.indices.filter { mayGrow($0) && widths[$0] ?? .max < wanted[$0] }
            guard let narrowest = candidates.min(by: { widths[$0] ?? 0 < widths[$1] ?? 0 }) else { return }
            widths[narrowest] = widths[narrowest].map { $0 + 1 }
        }
        cut(to: width, atLeast: Self.narrowest, mayGrow)
    }
}
