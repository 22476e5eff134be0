import LocalAPI

/// One change in one line: time, author, item, what.
struct ChangeLine {
    private let change: ChangeReport

    init(_ change: ChangeReport) {
        self.change = change
    }

    /// - Parameter isBrief: without the date, for what happens now.
    func text(width: Int, style: Style, isBrief: Bool = false) -> String {
        let exactTime = Formats.exactTime(change.at)
        let time = isBrief ? String(exactTime.suffix(8)) : exactTime
        let authorWidth = width < 60 ? 8 : 12
        let itemWidth = max(8, min(24, width / 4))
        let author = Text.padded(Text.fitted(change.authorName, to: authorWidth), to: authorWidth)
        let item = Text.padded(Text.fitted(change.itemDisplayName, to: itemWidth), to: itemWidth)
        let used = Text.width(time) + authorWidth + itemWidth + 6
        let summary = Text.fitted(change.summary, to: max(8, width - used))
        return "\(style.dim(time))  \(style.cyan(author))  \(item)  \(coloured(summary, style))"
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
