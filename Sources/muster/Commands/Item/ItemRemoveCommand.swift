import ArgumentParser
import LocalAPI

struct ItemRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove items for good, on every laptop.",
        usage: """
            muster item remove <job> <item> ... [--yes]
                               [--json] [--socket <path>]
            muster item remove <job> --where <field=value> ... [--yes]
                               [--json] [--socket <path>]
            """,
        discussion: """
            Several go together or not at all, when somebody has agreed or --yes is given. What has gone is listed, with \
            the command that brings it back.

            Examples:
              muster item remove "Smith, 12 Elm Street" 2000000000091
              muster item remove "Smith, 12 Elm Street" 2000000000091 2000000000107 --yes
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
            var request = RemovalRequest()
            if filters.isEmpty { request.items = items } else { request.matching = try filters.fields() }
            if items.count != 1 { try await confirm(&request, client) }
            let removed = try await client.removeItems(request, job: job.reference)
            removed.amends?.warn()
            if options.json { return try StandardOutput.json(removed) }
            StandardOutput.lines(RemovedText(removed: removed, job: job.reference).lines(width: Terminal.output.width))
        }
    }

    /// Asks the person, unless one item goes at most.
    private func confirm(_ request: inout RemovalRequest, _ client: LocalClient) async throws {
        request.isConfirmed = true
        guard !confirmation.yes else { return }
        request.isPreview = true
        let preview = try await client.removeItems(request, job: job.reference)
        request.isPreview = nil
        if preview.removed.count > 1 {
            let question = RemovedText(removed: preview, job: job.reference).question(
                of: try await client.job(job.reference))
            try confirmation.confirm(question, "Remove them?")
        }
        // Exactly what was shown goes, and nothing that somebody has added meanwhile.
        guard (1...ItemBatch.largest).contains(preview.removed.count) else { return }
        (request.items, request.matching) = (preview.removed, nil)
    }
}
