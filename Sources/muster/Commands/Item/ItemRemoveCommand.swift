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
            "Each an item's id, the beginning or end of one, or a barcode that one item has.", valueName: "item"),
        completion: Offers.items)
    var items: [String] = []

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Instead: all items whose field has exactly this value, or none with nothing behind =; of two fields both must fit.",
            valueName: "field=value"), completion: Offers.fields, transform: FieldArgument.parse)
    var filters: [FieldArgument] = []

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !items.isEmpty || !filters.isEmpty else {
            throw ValidationError("Name the items to remove, or give --where FIELD=VALUE.")
        }
        guard items.isEmpty || filters.isEmpty else {
            throw ValidationError("Name the items to remove, or give --where FIELD=VALUE, not both.")
        }
        _ = try filters.fields()
        if items.contains("") { throw ValidationError("Name the item: 'muster item list' shows the items.") }
    }

    func run() async throws {
        try await options.withClient { client in
            try await FieldNames.checkEmpty(filters.map(\.filter), in: job, client)
            var request = RemovalRequest()
            if filters.isEmpty { request.items = items } else { request.matching = try filters.fields() }
            var tag: String?
            // One item that is named goes without a question.
            if items.count != 1, !confirmation.yes { (request, tag) = try await agreed(request, client) }
            request.isConfirmed = items.count != 1
            let removed = try await remove(request, tag, client)
            if removed.removed.isEmpty { try await FieldNames.check(filters.map(\.filter.field), in: job, client) }
            removed.amends?.warn()
            if options.json { return try StandardOutput.json(removed) }
            StandardOutput.lines(RemovedText(removed: removed, job: job.reference).lines(width: Terminal.output.width))
        }
    }

    /// What a person has seen and agreed to: exactly that goes, and nothing that somebody has added meanwhile.
    ///
    /// - Returns: also the job's tag, where it is more than a request can name one by one.
    private func agreed(
        _ request: RemovalRequest, _ client: LocalClient
    ) async throws -> (request: RemovalRequest, tag: String?) {
        let (preview, tag) = try await client.previewRemoval(request, job: job.reference)
        if preview.removed.count > 1 {
            let question = RemovedText(removed: preview, job: job.reference).question(
                of: try await client.job(job.reference))
            try confirmation.confirm(question, "Remove them?")
        }
        guard preview.removed.count > ItemBatch.largest else { return (RemovalRequest(items: preview.removed), nil) }
        return (request, tag)
    }

    private func remove(_ request: RemovalRequest, _ tag: String?, _ client: LocalClient) async throws -> Removed {
        if request.items?.isEmpty == true { return Removed(removed: []) }
        do {
            return try await client.removeItems(request, job: job.reference, ifMatch: tag)
        } catch let error as APIError
            where items.count != 1 && [.itemRemoved, .unknownItem, .preconditionFailed].contains(error.code)
        {
            // Somebody was faster.
            let reason = error.code == .preconditionFailed ? "The job has changed meanwhile." : error.message
            throw APIError(error.code, "\(reason) Nothing was removed\(confirmation.yes ? "." : "; run it again.")")
        }
    }
}
