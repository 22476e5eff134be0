import LocalAPI

/// One change in one line: time, author, item, what.
struct ChangeLine {
    private let change: ChangeReport

    init(_ change: ChangeReport) {
        self.change = change
    }

    /// Cut to the width.
    ///
    /// - Parameter isBrief: without the date, for what happens now.
    func text(width: Int, style: Style, isBrief: Bool = false) -> String {
        let head = head(width: width, isBrief: isBrief)
        return head.text(style) + coloured(Text.fitted(change.summary, to: max(8, width - head.width)), style)
    }

    /// The whole of it: what does not fit beside its head stands below.
    func lines(width: Int, style: Style) -> [String] {
        let head = head(width: width, isBrief: false)
        guard head.width + Text.width(change.summary) > width else {
            return [head.text(style) + coloured(change.summary, style)]
        }
        let alone = head.text(style)
        let end = alone.lastIndex { $0 != " " } ?? alone.startIndex
        let margin = "    "
        let parts = Text.wrapped(change.summary, to: max(20, width - margin.count))
        return [String(alone[...end])] + parts.map { margin + coloured($0, style) }
    }

    /// When, who, and what was touched.
    private struct Head {
        let time: String
        let author: String
        let item: String

        var width: Int { Text.width(time) + Text.width(author) + Text.width(item) + 6 }

        func text(_ style: Style) -> String { "\(style.dim(time))  \(style.cyan(author))  \(item)  " }
    }

    private func head(width: Int, isBrief: Bool) -> Head {
        let exactTime = Formats.exactTime(change.at)
        let name = change.authorName
        // A person and a laptop need more room, which lines without a person leave to the rest.
        let authorWidth = max(width < 60 ? 8 : 12, min(Text.width(name), change.person == nil ? 0 : width / 4))
        let itemWidth = max(8, min(24, width / 4))
        return Head(
            time: isBrief ? String(exactTime.suffix(8)) : exactTime,
            author: Text.padded(Text.fitted(name, to: authorWidth), to: authorWidth),
            item: Text.padded(Text.fitted(change.itemDisplayName, to: itemWidth), to: itemWidth))
    }

    private func coloured(_ text: String, _ style: Style) -> String {
        switch change.action {
        case .added: style.green(text)
        case .removed: style.red(text)
        case .noted, .decided: style.yellow(text)
        case .changed: text
        }
    }
}
