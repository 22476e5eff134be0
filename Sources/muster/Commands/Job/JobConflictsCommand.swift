import ArgumentParser
import LocalAPI

struct JobConflictsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List concurrent edits and barcodes that several items have.",
        discussion: "Example:\n  muster job conflicts \"Smith, 12 Elm Street\"")

    @OptionGroup var job: JobArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let report = try await options.withClient { try await $0.conflicts(job: job.reference) }
        if options.json { return try StandardOutput.json(report) }
        guard !report.edits.isEmpty || !report.duplicateBarcodes.isEmpty else {
            return StandardOutput.write("There is no conflict.\n")
        }
        let terminal = Terminal.output
        var lines: [String] = []
        if !report.edits.isEmpty {
            lines += ["\(counted(report.edits.count, "field")) edited on two devices at the same time:"]
            lines += edits(report.edits).lines(width: terminal.width, style: terminal.style)
        }
        if !report.duplicateBarcodes.isEmpty {
            if !lines.isEmpty { lines.append("") }
            lines += ["\(counted(report.duplicateBarcodes.count, "barcode")) on more than one item:"]
            lines += duplicates(report.duplicateBarcodes).lines(width: terminal.width, style: terminal.style)
        }
        StandardOutput.lines(lines)
    }

    private func edits(_ edits: [ConflictingEdit]) -> Table {
        let short = ShortIDs(edits.map(\.item), atLeast: 13)
        var table = Table([
            .whole("ITEM"), .text("NAME"), .text("FIELD"), .text("KEPT"), .text("BY"), .text("OVERRULED"), .text("BY"),
        ])
        for edit in edits {
            table.add(
                short[edit.item], edit.itemName ?? "", edit.field, edit.winner.value, edit.winner.authorName,
                edit.loser.value, edit.loser.authorName)
        }
        return table
    }

    private func duplicates(_ duplicates: [DuplicateBarcode]) -> Table {
        let short = ShortIDs(duplicates.flatMap(\.items), atLeast: 13)
        var table = Table([.whole("BARCODE"), .number("ITEMS"), .text("IDS")])
        for duplicate in duplicates {
            let ids = duplicate.items.map { short[$0] }.joined(separator: " ")
            table.add(duplicate.barcode, Formats.count(duplicate.items.count), ids)
        }
        return table
    }
}
