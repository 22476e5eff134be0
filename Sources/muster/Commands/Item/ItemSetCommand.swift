import ArgumentParser
import LocalAPI

struct ItemSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set fields of an item; others stay as they are.",
        usage: """
            muster item set <job> <item> <field=value> ... [--force] [--json]
                            [--socket <path>]
            """,
        discussion: """
            FIELD= empties a field. What is checked, and what --force takes all the same, says 'muster item add --help'.

            Example:
              muster item set "Smith, 12 Elm Street" 2000000000091 room=Hall condition=
            """)

    @OptionGroup var job: JobArgument
    @OptionGroup var item: ItemArgument

    @Argument(
        help: ArgumentHelp("A field and its value.", valueName: "field=value"), completion: Offers.fields,
        transform: FieldArgument.parse)
    var fields: [FieldArgument]

    @OptionGroup var forcing: ForceOption
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let request = FieldsRequest(fields: try fields.fields())
        let changed = try await options.withClient { client in
            try await client.setFields(
                request, item: item.reference, job: job.reference, isForced: forcing.force)
        }
        try options.report(
            changed, "Set \(request.fields.keys.sorted().map(Text.plain).joined(separator: ", ")) of \(item.title).")
    }
}
