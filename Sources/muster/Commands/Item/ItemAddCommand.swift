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
        let added = try await options.withClient { client in
            let added = try await client.addItem(request, job: job.reference, isForced: forcing.force)
            if let barcode = request.fields["barcode"] ?? nil { await client.warn(ofTwins: barcode, in: job.reference) }
            return added
        }
        try options.report(added, added.id)
    }
}

extension LocalClient {
    /// Says that a barcode is that of several items, which nobody can name by it any more. The daemon looks that up at once.
    fileprivate func warn(ofTwins barcode: String, in job: String) async {
        guard !barcode.isEmpty else { return }
        do { _ = try await item(barcode, job: job) } catch let error as APIError where error.code == .ambiguousItem {
            let command = ShellWord.command(["muster", "job", "conflicts", job])
            StandardError.say(
                "The job has another item with the barcode \(Text.plain(barcode)), too; '\(command)' lists them.")
        } catch {}
    }
}
