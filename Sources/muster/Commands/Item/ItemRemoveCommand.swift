import ArgumentParser
import LocalAPI

struct ItemRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove an item for good, on every device.",
        discussion: "Example:\n  muster item remove \"Smith, 12 Elm Street\" 2000000000091")

    @OptionGroup var job: JobArgument
    @OptionGroup var item: ItemArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let removed = try await options.withClient { client in
            try await client.removeItem(item.reference, job: job.reference)
        }
        try options.report(removed, "Removed item \(removed.id).")
    }
}
