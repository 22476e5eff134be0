import ArgumentParser
import LocalAPI

struct ItemRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove items for good, on every device.",
        usage: """
            muster item remove <job> <item> ... [--yes]
                               [--json] [--socket <path>]
            muster item remove <job> --where <field=value> ... [--yes]
                               [--json] [--socket <path>]
            """,
        discussion: """
            Several go together or not at all. Twenty or more that are over half of the job's items want --yes.

            Examples:
              muster item remove "Smith, 12 Elm Street" 2000000000091
              muster item remove "Smith, 12 Elm Street" --where room=Garage
            """,
        aliases: ["rm"])

    @OptionGroup var job: JobArgument

    @Argument(
        help: ArgumentHelp(
            "Each an item's id, the beginning or end of one, or a barcode that one item has.", valueName: "item"))
    var items: [String] = []

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Instead: all items whose field has exactly this value; of two fields both must fit.",
            valueName: "field=value"))
    var filters: [FieldArgument] = []

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard items.isEmpty != filters.isEmpty else {
            throw ValidationError("Name the items to remove, or give --where FIELD=VALUE, not both.")
        }
        _ = try filters.fields()
        if items.contains("") { throw ValidationError("Name the item: 'muster item list' shows the items.") }
    }

    func run() async throws {
        try await options.withClient { client in
            if items.count == 1 {
                let removed = try await client.removeItem(items[0], job: job.reference)
                return try options.report(removed, "Removed item \(removed.id).")
            }
            var request = RemovalRequest(isConfirmed: confirmation.yes)
            if filters.isEmpty { request.items = items } else { request.matching = try filters.fields() }
            let outcome = try await remove(request, client)
            if options.json { return try StandardOutput.json(outcome) }
            StandardOutput.write("Removed \(counted(outcome.removed.count, "item")).\n")
        }
    }

    /// Asks the person if the daemon wants that.
    private func remove(_ request: RemovalRequest, _ client: LocalClient) async throws -> Removed {
        do {
            return try await client.removeItems(request, job: job.reference)
        } catch let refusal as APIError where refusal.code == .confirmationNeeded {
            try confirmation.confirm(refusal.message, "Remove them?")
            var confirmed = request
            confirmed.isConfirmed = true
            return try await client.removeItems(confirmed, job: job.reference)
        }
    }
}
