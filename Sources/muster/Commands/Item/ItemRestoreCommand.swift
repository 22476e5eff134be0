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
              muster item restore "Smith, 12 Elm Street" 01953b2e-7c31-7abc-8def-0123456789ab
            """)

    @OptionGroup var job: JobArgument

    @Argument(
        help: ArgumentHelp(
            "Each a removed item's id, the beginning or end of one, or a barcode that one removed item has.",
            valueName: "item"))
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
                    if !options.json { StandardOutput.write(Self.line(restored, item)) }
                }
            } catch {
                // What came before is back, and told.
                if options.json, !answer.restored.isEmpty { try StandardOutput.json(answer) }
                throw error
            }
            answer.restored.lazy.compactMap(\.amends).first?.warn()
            if options.json { try StandardOutput.json(answer) }
        }
    }

    private static func line(_ restored: Restored, _ item: String) -> String {
        restored.isNew ? "\(restored.id)\n" : "\(Text.plain(item)) is back already, as item \(restored.id).\n"
    }
}

/// What `muster item restore --json` prints, however many were named.
private struct RestoredItems: Encodable {
    /// In the order in which they were named.
    var restored: [Restored] = []
}
