import ArgumentParser
import LocalAPI

struct ItemListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the items of a job.",
        discussion: "Example:\n  muster item list \"Smith, 12 Elm Street\" room=Kitchen")

    @OptionGroup var job: JobArgument

    @Argument(help: ArgumentHelp("Only items whose field has exactly this value.", valueName: "field=value"))
    var filters: [FieldArgument] = []

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let filters = filters.map(\.filter)
        try await options.withClient { client in
            if options.json {
                try await client.itemsAsJSON(job: job.reference, matching: filters) { StandardOutput.write($0) }
            } else {
                var items: [ItemView] = []
                try await client.items(job: job.reference, matching: filters) { items += $0 }
                show(items, isPart: !filters.isEmpty)
            }
        }
    }

    private func show(_ items: [ItemView], isPart: Bool) {
        guard !items.isEmpty else {
            return StandardOutput.write(isPart ? "No item matches.\n" : "The job has no item yet.\n")
        }
        // Ids of one moment differ only towards their end: of a part of the items show enough for the rest, too.
        let short = ShortIDs(items.map(\.id), atLeast: isPart ? 23 : 8)
        // Where each item has a barcode of its own that names it well enough, and the id would take the names' place.
        let barcodes = items.compactMap { $0.fields["barcode"] }.filter { !$0.isEmpty }
        let showsIDs = barcodes.count < items.count || Set(barcodes).count < items.count
        var table = Table(
            (showsIDs ? [.whole("ID")] : []) + [
                .whole("BARCODE"), .text("NAME"), .text("ROOM"), .number("QTY"), .text("CONDITION"), .number("NOTES"),
            ])
        for item in items {
            let fields = item.fields
            let cells = [
                fields["barcode"] ?? "", fields["name"] ?? fields["category"] ?? fields["title"] ?? "",
                fields["room"] ?? "", fields["quantity"] ?? "", fields["condition"] ?? "",
                item.notes.isEmpty ? "" : "\(item.notes.count)",
            ]
            table.add((showsIDs ? [short[item.id]] : []) + cells)
        }
        table.print(on: .output)
    }
}
