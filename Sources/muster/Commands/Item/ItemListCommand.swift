import ArgumentParser
import LocalAPI

struct ItemListCommand: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the items of a job.",
        usage: ListOptions.usage("muster item list <job> [<field=value> ...]\n      "),
        discussion: """
            \(columns.described()) Any other name is a field's.

            Examples:
              muster item list "Smith, 12 Elm Street" room=Kitchen
              muster item list "Elm Street 4" --columns barcode,serial --sort -changed
            """,
        aliases: ["ls"])

    @OptionGroup var job: JobArgument

    @Argument(
        help: ArgumentHelp(
            "Only items whose field has exactly this value; with nothing behind = those that have none.",
            valueName: "field=value"),
        completion: Offers.fields, transform: FieldArgument.parse)
    var filters: [FieldArgument] = []

    static var columnNames: [String] {
        let keys = columns.map(\.key)
        return keys + Offers.enteredFields.filter { !keys.contains($0) }
    }

    @OptionGroup var list: ListOptions
    @OptionGroup var options: GlobalOptions

    private static var columns: [ListColumn<ItemView>] { ItemColumns.all(ShortIDs([])) }

    func run() async throws {
        try options.check(list)
        let filters = filters.map(\.filter)
        try await options.withClient { client in
            try await FieldNames.checkEmpty(filters, in: job, client)
            if options.json {
                try await client.itemsAsJSON(job: job.reference, matching: filters) { StandardOutput.write($0) }
            } else if list.isUsual {
                try await show(ItemTable<ItemRow>(isPart: !filters.isEmpty, on: .output), client, filters) { $0 }
            } else {
                let named = (list.names ?? []) + [list.sortName].compactMap(\.self)
                try await FieldNames.check(
                    named.filter { name in !Self.columns.contains { $0.key == name } }, in: job, client)
                let shown = list.names == nil && !list.wide ? nil : try list.shown(Self.columns, ItemColumns.field)
                let table = ItemTable(isPart: !filters.isEmpty, columns: shown, on: list.terminal())
                try await show(table, client, filters) { try list.sorted($0, Self.columns, ItemColumns.field) }
            }
        }
    }

    /// As the items come, if that is their order.
    private func show<Item>(
        _ table: ItemTable<Item>, _ client: LocalClient, _ filters: [FieldFilter], _ sorted: ([Item]) throws -> [Item]
    ) async throws {
        var (table, waiting, count) = (table, [Item](), 0)
        try await client.items(job: job.reference, matching: filters) { (items: [Item]) in
            count += items.count
            if list.sort == nil { StandardOutput.lines(table.add(items)) } else { waiting += items }
        }
        StandardOutput.lines(table.add(try sorted(waiting)) + table.finish())
        if count == 0 { try await FieldNames.check(filters.map(\.field), in: job, client) }
        if count == 0 {
            StandardOutput.remark(filters.isEmpty ? "The job has no item yet." : "No item matches.")
        }
    }
}
