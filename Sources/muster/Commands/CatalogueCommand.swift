import ArgumentParser
import LocalAPI

struct CatalogueCommand: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalogue",
        abstract: "List the categories that give an item its volume.",
        usage: ListOptions.usage("muster catalogue [<word>]"),
        discussion: """
            With a word, the categories that have it in their id or name. \(columns.described())

            Example:
              muster catalogue sofa
            """)

    @Argument(help: "A word, or a part of one.")
    var word: String?

    static var columnNames: [String] { columns.map(\.key) }

    @OptionGroup var list: ListOptions
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let all = try await options.withClient { try await $0.catalogue() }
        let categories = all.filter { category in
            guard let word = word?.lowercased() else { return true }
            return category.id.contains(word) || category.name.lowercased().contains(word)
        }
        try options.print(
            categories, list, columns: Self.columns,
            none: "No category has that word; 'muster catalogue' lists them all.")
    }

    private static var columns: [ListColumn<CategoryView>] {
        [
            ListColumn(.whole("CATEGORY")) { Cell($0.id) },
            ListColumn(.text("NAME")) { Cell($0.name) },
            ListColumn(.number("CU FT")) { Cell(shown: Formats.decimal($0.cubicFeet), exact: "\($0.cubicFeet)") },
        ]
    }
}
