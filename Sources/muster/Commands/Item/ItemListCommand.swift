import ArgumentParser
import LocalAPI

struct ItemListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the items of a job.",
        discussion: "Example:\n  muster item list \"Smith, 12 Elm Street\" room=Kitchen",
        aliases: ["ls"])

    @OptionGroup var job: JobArgument

    @Argument(help: ArgumentHelp("Only items whose field has exactly this value.", valueName: "field=value"))
    var filters: [FieldArgument] = []

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let filters = filters.map(\.filter)
        try await options.withClient { client in
            if options.json {
                try await client.itemsAsJSON(job: job.reference, matching: filters) { StandardOutput.write($0) }
            } else {
                var table = ItemTable(isPart: !filters.isEmpty, on: .output)
                try await client.items(job: job.reference, matching: filters) {
                    StandardOutput.lines(table.add($0))
                }
                StandardOutput.lines(table.finish())
            }
        }
    }
}
