import ArgumentParser
import LocalAPI

struct CatalogueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalogue",
        abstract: "List the categories that give an item its volume.",
        discussion: """
            With a word, the categories that have it in their id or name.

            Example:
              muster catalogue sofa
            """)

    @Argument(help: "A word, or a part of one.")
    var word: String?

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let all = try await options.withClient { try await $0.catalogue() }
        let categories = all.filter { category in
            guard let word = word?.lowercased() else { return true }
            return category.id.contains(word) || category.name.lowercased().contains(word)
        }
        if options.json { return try StandardOutput.json(categories) }
        guard !categories.isEmpty else {
            return StandardOutput.write("No category has that word; 'muster catalogue' lists them all.\n")
        }
        var table = Table([.whole("CATEGORY"), .text("NAME"), .number("CU FT")])
        for category in categories { table.add(category.id, category.name, Formats.decimal(category.cubicFeet)) }
        table.print(on: .output)
    }
}
