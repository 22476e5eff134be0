import ArgumentParser
import LocalAPI

struct ItemRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make new items that stand for removed ones, and print their ids.",
        discussion: """
            A barcode is looked for among the removed items. An item that is back already is told, and nothing is changed.

            Examples:
              muster item restore "Smith, 12 Elm Street" 2000000000091
              muster item restore "Smith, 12 Elm Street" 56789ab 2000000000107
            """)

    @OptionGroup var job: JobArgument

    @Argument(
        help: ArgumentHelp(
            "Each a removed item's id, the beginning or end of one, or a barcode that one removed item has.",
            valueName: "item"),
        completion: Offers.removedItems)
    var items: [String]

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        if items.contains("") { throw ValidationError("Name the item: 'muster job log' shows what was removed.") }
    }

    func run() async throws {
        try await options.withClient { client in
            var answer = RestoredItems()
            do {
                for item in items {
                    let restored = try await client.restoreItem(item, job: job.reference)
                    answer.restored.append(restored)
                    guard !options.json else { continue }
                    StandardOutput.write(restored.id + "\n")
                    if !restored.isNew { StandardError.say("\(Text.plain(item)) was back already.") }
                }
            } catch {
                // What came before is back, and told.
                if !answer.restored.isEmpty { try tell(answer) }
                throw error
            }
            try tell(answer)
        }
    }

    private func tell(_ answer: RestoredItems) throws {
        answer.restored.lazy.compactMap(\.amends).first?.warn()
        if options.json { try StandardOutput.json(answer) }
    }
}

/// What `muster item restore --json` prints, however many were named.
private struct RestoredItems: Encodable {
    /// In the order in which they were named.
    var restored: [Restored] = []
}
