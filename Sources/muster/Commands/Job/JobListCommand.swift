import ArgumentParser
import Inventory
import LocalAPI

struct JobListCommand: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the jobs on this laptop.",
        usage: ListOptions.usage("muster job list"),
        discussion: """
            \(columns(ShortIDs([])).described())

            Examples:
              muster job list
              muster job list --sort -changed --columns name,state,items
            """,
        aliases: ["ls"])

    static var columnNames: [String] { columns(ShortIDs([])).map(\.key) }

    @OptionGroup var list: ListOptions
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let jobs = try await options.withClient { try await $0.jobs() }
        try options.print(
            jobs, list, columns: Self.columns(ShortIDs(jobs.map(\.id))),
            none: "There is no job yet; make one with 'muster job create --name NAME'.")
    }

    static func columns(_ short: ShortIDs) -> [ListColumn<JobListEntry>] {
        [
            ListColumn(.whole("ID")) { .id($0.id, short) },
            ListColumn(.text("NAME")) { Cell($0.name) },
            ListColumn(.whole("KIND").optional) { Cell($0.kind.rawValue) },
            ListColumn(.text("STATE")) { Cell($0.isRemoved ? "removed" : $0.state.description) },
            ListColumn(.number("ITEMS")) { .count($0.items) },
            ListColumn(.number("CONFLICTS").optional) { .count($0.conflicts) },
            ListColumn(.whole("CHANGED").optional) { .time($0.updatedAt) },
            ListColumn(.number("REMOVED").optional, isUsual: false) { .count($0.removed) },
        ]
    }
}
