import ArgumentParser
import LocalAPI

struct ItemAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an item and print its id.",
        usage: """
            muster item add <job> <field=value> ... [--force] [--json]
                            [--socket <path>]
            """,
        discussion: """
            Well-known fields: barcode, category, name, room, quantity, condition, volumeCubicFeet. Any other is kept \
            as it is. A quantity that is no whole number, a volume that is no number, a category that the catalogue does \
            not have ('muster catalogue' lists it), and a name that is nearly a well-known one are refused, unless \
            --force says that they are meant.

            Example:
              muster item add "Smith, 12 Elm Street" category=sofa-3-seat room=Kitchen
            """)

    @OptionGroup var job: JobArgument

    @Argument(
        help: ArgumentHelp("A field and its value.", valueName: "field=value"), completion: Offers.fields,
        transform: FieldArgument.parse)
    var fields: [FieldArgument]

    @OptionGroup var forcing: ForceOption
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let request = FieldsRequest(fields: try fields.fields())
        let added = try await options.withClient {
            try await $0.addItem(request, job: job.reference, isForced: forcing.force)
        }
        try options.report(added, added.id)
    }
}
