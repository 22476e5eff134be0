import ArgumentParser
import LocalAPI

struct JobConflictsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List and settle concurrent edits; list double barcodes and edits from the future.",
        usage: """
            muster job conflicts <job> [--take <item> <field> <value or author>]
                                 [--json] [--socket <path>]
            """,
        discussion: """
            With --take one of a field's values stays, on every laptop, and the others no longer count. It is named by \
            itself, or by who wrote it: a person, a laptop's name, or the beginning of its replica id. The item 'job' stands for the \
            job's own name and kind.

            Examples:
              muster job conflicts "Smith, 12 Elm Street"
              muster job conflicts "Smith, 12 Elm Street" --take 2000000000091 room Hall
              muster job conflicts "Smith, 12 Elm Street" --take job name anna-laptop
            """)

    @OptionGroup var job: JobArgument

    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp(
            "Settle one field: an item, a field, and the value to keep or its author.", valueName: "choice"))
    var take: [String] = []

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard take.isEmpty || take.count == 3 else {
            throw ValidationError("Give --take an item, a field, and the value to keep or its author.")
        }
    }

    func run() async throws {
        guard take.isEmpty else { return try await settle() }
        let report = try await options.withClient { try await $0.conflicts(job: job.reference) }
        if options.json { return try StandardOutput.json(report) }
        guard !report.edits.isEmpty || !report.duplicateBarcodes.isEmpty || !report.future.isEmpty else {
            return StandardOutput.say("There is no conflict.")
        }
        let terminal = Terminal.output
        var lines: [String] = []
        if !report.edits.isEmpty {
            lines += ["\(counted(report.edits.count, "field")) edited on two laptops at the same time:"]
            lines += edits(report.edits).lines(on: terminal)
        }
        if !report.duplicateBarcodes.isEmpty {
            if !lines.isEmpty { lines.append("") }
            lines += ["\(counted(report.duplicateBarcodes.count, "barcode")) on more than one item:"]
            lines += duplicates(report.duplicateBarcodes).lines(on: terminal)
        }
        if !report.future.isEmpty {
            if !lines.isEmpty { lines.append("") }
            lines += ["\(counted(report.future.count, "field")) stamped later than now; the next edit of it stands:"]
            lines += future(report.future).lines(on: terminal)
        }
        StandardOutput.lines(lines)
    }

    private func future(_ edits: [FutureEdit]) -> Table {
        let short = ShortIDs(edits.map(\.item))
        var table = Table([
            .whole("ITEM"), .text("NAME"), .text("FIELD"), .text("VALUE"), .text("BY"), .whole("STAMPED"),
        ])
        for edit in edits {
            table.add(
                .id(edit.item, short), Cell(edit.itemName ?? ""), Cell(edit.field), Cell(edit.written.value),
                Cell(edit.written.authorName), .exactTime(edit.written.at))
        }
        return table
    }

    private func edits(_ edits: [ConflictingEdit]) -> Table {
        let short = ShortIDs(edits.map(\.item))
        var table = Table([
            .whole("ITEM"), .text("NAME"), .text("FIELD"), .text("KEPT"), .text("BY"), .text("OVERRULED"), .text("BY"),
        ])
        for edit in edits {
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

    private func settle() async throws {
        let request = SettleRequest(item: take[0], field: take[1], take: take[2])
        let settled = try await options.withClient { try await $0.settle(request, job: job.reference) }
        if options.json { return try StandardOutput.json(settled) }
        let name = Text.plain(settled.itemName ?? settled.item)
        StandardOutput.say("Set \(Text.plain(settled.field)) of \(name) to \(Text.plain(settled.value)).")
    }

    private func duplicates(_ duplicates: [DuplicateBarcode]) -> Table {
        let short = ShortIDs(duplicates.flatMap(\.items))
        var table = Table([.whole("BARCODE"), .number("ITEMS"), .text("IDS")])
        for duplicate in duplicates {
            let ids = duplicate.items.map { short[$0] }.joined(separator: " ")
            table.add(
                Cell(duplicate.barcode), .count(duplicate.items.count),
                Cell(shown: ids, exact: duplicate.items.joined(separator: " ")))
        }
        return table
    }
}
