import LocalAPI

/// What `muster job conflicts` says: rows where they fit, and where a value would be cut, which nobody can decide by, a block each.
struct ConflictText {
    private let report: ConflictReport
    private let job: String
    private let terminal: Terminal

    /// - Parameter job: as the person names it.
    init(_ report: ConflictReport, of job: String, on terminal: Terminal) {
        (self.report, self.job, self.terminal) = (report, ShortIDs.one(job), terminal)
    }

    var lines: [String] {
        var parts: [[String]] = []
        if !report.edits.isEmpty {
            let title = "\(counted(report.edits.count, "field")) edited on two laptops at the same time:"
            parts.append(sentence(title) + whole(edits, else: blocks) + remedy)
        }
        if !report.duplicateBarcodes.isEmpty {
            let title = "\(counted(report.duplicateBarcodes.count, "barcode")) on more than one item:"
            parts.append(sentence(title) + duplicates)
        }
        if !report.future.isEmpty {
            let title = "\(counted(report.future.count, "field")) stamped later than now; the next edit of it stands:"
            parts.append(sentence(title) + whole(future, else: futureBlocks))
        }
        return Array(parts.joined(separator: [""]))
    }

    private func sentence(_ text: String) -> [String] {
        terminal.isPiped ? [text] : Text.wrapped(text, to: terminal.width)
    }

    /// A table, if nothing of it is cut.
    private func whole(_ table: Table, else blocks: [String]) -> [String] {
        if terminal.isPiped { return table.lines(on: terminal) }
        let lines = table.lines(width: .max / 4, style: terminal.style)
        let isWide = table.lines(width: .max / 4).contains { Text.width($0) > terminal.width }
        return isWide ? blocks : lines
    }

    /// A name and its value, below itself where it is long.
    private func fact(_ name: String, _ value: String, by author: String) -> [String] {
        let value = Text.plain(value).isEmpty ? "(nothing)" : Text.plain(value)
        let margin = "  " + terminal.style.dim(Text.padded(name, to: 11))
        let room = max(20, terminal.width - 13)
        if Text.width(value) + Text.width(author) + 5 <= room { return ["\(margin)\(value)  by \(author)"] }
        let parts = Text.width(value) <= room ? [value] : Text.wrapped(value, to: room)
        let below = String(repeating: " ", count: 13)
        return ["\(margin)\(parts.first ?? "")"] + parts.dropFirst().map { below + $0 } + ["\(below)by \(author)"]
    }

    // MARK: Concurrent edits

    private var shortIDs: ShortIDs { ShortIDs(report.edits.map(\.item)) }

    private var edits: Table {
        let short = shortIDs
        var table = Table([
            .whole("ITEM"), .text("NAME"), .text("FIELD"), .text("KEPT"), .text("BY"), .text("OVERRULED"), .text("BY"),
        ])
        for edit in report.edits {
            let item: Cell =
                edit.item == ConflictingEdit.jobID ? Cell(ConflictingEdit.jobItself) : .id(edit.item, short)
            let kept =
                [item] + [edit.itemName ?? "", edit.field, edit.winner.value, edit.winner.authorName].map { Cell($0) }
            for (index, loser) in edit.losers.enumerated() {
                // For people one conflict, however many have lost it.
                let before = index == 0 ? kept : kept.map(\.repeated)
                table.add(before + [Cell(loser.value), Cell(loser.authorName)])
            }
        }
        return table
    }

    private var blocks: [String] {
        let short = shortIDs
        return report.edits.flatMap { edit in
            let title = "\(heading(edit, short)), \(Text.plain(edit.field))"
            return Text.wrapped(title, to: terminal.width).map(terminal.style.bold)
                + fact("kept", edit.winner.value, by: edit.winner.authorName)
                + edit.losers.flatMap { fact("overruled", $0.value, by: $0.authorName) }
        }
    }

    /// An item is not called by the very name that is argued about.
    private func heading(_ edit: ConflictingEdit, _ short: ShortIDs) -> String {
        if edit.item == ConflictingEdit.jobID { return "The job itself" }
        guard edit.field != "name", let name = edit.itemName else { return "Item \(short[edit.item])" }
        return "\(Text.plain(name)) (\(short[edit.item]))"
    }

    /// What takes the other value, for the first of them.
    private var remedy: [String] {
        guard !terminal.isPiped, let edit = report.edits.first, let loser = edit.losers.first else { return [] }
        let item = edit.item == ConflictingEdit.jobID ? ConflictingEdit.jobItself : shortIDs[edit.item]
        let commands = [loser, edit.winner].map { value in
            ShellWord.command(
                ["muster", "job", "conflicts", job, "--take", item, edit.field, edit.choice(of: value)])
        }
        return [""] + sentence("To take the other value of the first, or to confirm the one that is kept:")
            + commands.map { "  \($0)" }
    }

    // MARK: Barcodes

    private var duplicates: [String] {
        let short = ShortIDs(report.duplicateBarcodes.flatMap(\.items))
        if terminal.isPiped {
            var table = Table([.whole("BARCODE"), .number("ITEMS"), .text("IDS")])
            for duplicate in report.duplicateBarcodes {
                table.add(
                    Cell(duplicate.barcode), .count(duplicate.items.count), Cell(duplicate.items.joined(separator: " "))
                )
            }
            return table.lines(on: terminal)
        }
        let lines = report.duplicateBarcodes.flatMap { duplicate in
            let items = zip(duplicate.items, duplicate.itemNames).map { id, name in
                "\(name.map { Text.plain($0) } ?? "an item") (\(short[id]))"
            }
            let barcode = Text.plain(duplicate.barcode)
            let line = "\(barcode)  \(items.joined(separator: ", "))"
            if Text.width(line) <= terminal.width { return [line] }
            return [barcode]
                + items.flatMap {
                    Text.wrapped($0, to: max(20, terminal.width - 4)).enumerated().map {
                        ($0.offset == 0 ? "  " : "    ") + $0.element
                    }
                }
        }
        let remedy = "Give all but one another barcode with 'muster item set', or remove what is there twice."
        return lines + sentence(remedy)
    }

    // MARK: Of the future

    private var future: Table {
        let short = ShortIDs(report.future.map(\.item))
        var table = Table([
            .whole("ITEM"), .text("NAME"), .text("FIELD"), .text("VALUE"), .text("BY"), .whole("STAMPED"),
        ])
        for edit in report.future {
            table.add(
                .id(edit.item, short), Cell(edit.itemName ?? ""), Cell(edit.field), Cell(edit.written.value),
                Cell(edit.written.authorName), .exactTime(edit.written.at))
        }
        return table
    }

    private var futureBlocks: [String] {
        let short = ShortIDs(report.future.map(\.item))
        return report.future.flatMap { edit in
            let title = "\(Text.plain(edit.itemName ?? "Item")) (\(short[edit.item])), \(Text.plain(edit.field))"
            return Text.wrapped(title, to: terminal.width).map(terminal.style.bold)
                + fact("value", edit.written.value, by: edit.written.authorName)
                + ["  \(terminal.style.dim("stamped"))    \(Formats.exactTime(edit.written.at))"]
        }
    }
}

extension ConflictingEdit {
    /// What `--take` knows one of the values by: its author, who is short to type, where that names no other.
    fileprivate func choice(of value: WrittenValue) -> String {
        let author = value.byName.flatMap { $0.isEmpty ? nil : $0 } ?? ShortIDs.random(value.by)
        let others = ([winner] + losers).filter { $0.value != value.value }
        let isTaken = others.contains { [$0.value, $0.byName, $0.person].contains(author) }
        return isTaken ? value.value : author
    }
}
