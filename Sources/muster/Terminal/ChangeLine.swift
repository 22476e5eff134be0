import LocalAPI

/// One change in one line: time, author, item, what.
struct ChangeLine {
    private let change: ChangeReport

    init(_ change: ChangeReport) {
        self.change = change
    }

    func text(width: Int, style: Style) -> String {
        let time = Formats.exactTime(change.at)
        let author = Text.padded(Text.fitted(change.authorName, to: 12), to: 12)
        let itemWidth = max(12, min(24, width / 4))
        let item = Text.padded(Text.fitted(change.itemDisplayName, to: itemWidth), to: itemWidth)
        let used = Text.width(time) + 12 + itemWidth + 6
        let summary = Text.fitted(change.summary, to: max(8, width - used))
        return "\(style.dim(time))  \(style.cyan(author))  \(item)  \(coloured(summary, style))"
    }

    private func coloured(_ text: String, _ style: Style) -> String {
        switch change.action {
        case .added: style.green(text)
        case .removed: style.red(text)
        case .noted: style.yellow(text)
        case .changed: text
        }
    }
}
