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

    /// For a program: when, who, what was touched, what was done to it.
    var cells: [Cell] {
        [.time(change.at), Cell(change.authorName), Cell(change.itemDisplayName), Cell(change.summary)]
    }

    /// The day it is of, as it stands above all changes of that day.
    var day: String { String(Formats.exactTime(change.at).prefix(10)) }

    /// The whole of it: what does not fit beside its head stands below.
    ///
    /// - Parameter isOfKnownDay: without the date.
    func lines(width: Int, style: Style, isOfKnownDay: Bool = false) -> [String] {
        let head = head(width: width, isBrief: isOfKnownDay)
        let (author, item) = (change.authorName, change.itemDisplayName)
        let isWhole = Text.width(author) <= head.authorWidth && Text.width(item) <= head.itemWidth
        if isWhole, head.width + Text.width(change.summary) <= width {
            return [head.text(style) + coloured(change.summary, style)]
        }
        return block(head: [(head.time, style.dim), (author, style.cyan)], width: width, style: style)
    }

    /// The whole of it below a name that commands take.
    func block(called name: String, author: String, width: Int, style: Style) -> [String] {
        let isToday = Formats.exactTime(.now).prefix(10) == day
        let time = String(Formats.exactTime(change.at).suffix(isToday ? 8 : 19))
        return block(head: [(name, style.bold), (time, style.dim), (author, style.cyan)], width: width, style: style)
    }

    /// The item beside the head, or where it does not fit there below, and below that what was done to it.
    private func block(head: [(text: String, colour: (String) -> String)], width: Int, style: Style) -> [String] {
        let item = change.itemDisplayName
        let coloured = head.map { $0.colour($0.text) }.joined(separator: "  ")
        let room = width - head.reduce(0) { $0 + Text.width($1.text) + 2 }
        var lines = [coloured]
        if Text.width(item) <= room {
            lines = [coloured + "  " + item]
        } else {
            lines += Text.wrapped(item, to: max(20, width - 2)).map { "  " + $0 }
        }
        let margin = "    "
        let parts = Text.wrapped(change.summary, to: max(20, width - margin.count))
        return lines + parts.map { margin + self.coloured($0, style) }
    }

    /// When, who, and what was touched.
    private struct Head {
        let time: String
        let author: String
        let item: String
        let authorWidth: Int
        let itemWidth: Int

        var width: Int { Text.width(time) + authorWidth + itemWidth + 6 }

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
            item: Text.padded(Text.fitted(change.itemDisplayName, to: itemWidth), to: itemWidth),
            authorWidth: authorWidth, itemWidth: itemWidth)
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
