import ArgumentParser
import LocalAPI

struct JobRosterCommand: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "roster",
        abstract: "Show who takes part in a job, when each was heard of, and how much each holds.",
        usage: ListOptions.usage("muster job roster <job>"),
        discussion: """
            \(columns(ShortIDs([])).described())

            Example:
              muster job roster "Smith, 12 Elm Street"
            """)

    @OptionGroup var job: JobArgument
    static var columnNames: [String] { columns(ShortIDs([])).map(\.key) }

    @OptionGroup var list: ListOptions
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let (members, assignment) = try await options.withClient { client in
            (try await client.roster(job: job.reference), try await client.assignment(job: job.reference))
        }
        if !options.json, !assignment.isEverybodys { StandardOutput.remark(assignment.words + "\n") }
        try options.print(
            members, list, columns: Self.columns(ShortIDs(members.map(\.replicaID))),
            none: "Nobody has written in this job yet.")
    }

    private static func columns(_ short: ShortIDs) -> [ListColumn<RosterMember>] {
        [
            ListColumn(.text("LAPTOP")) { Cell(($0.name ?? "–") + ($0.isOwn ? " (this one)" : "")) },
            ListColumn(.text("PERSON").optional) { Cell($0.person) },
            ListColumn(.whole("LAST CHANGE").optional) { .time($0.lastSeenAt) },
            ListColumn(.whole("HEARD OF")) { $0.isConnected ? "now" : .time($0.heardAt) },
            ListColumn(.whole("HOLDS")) { member in
                guard let behind = member.behind else { return "not known" }
                return behind == 0 ? "everything" : "\(Formats.count(behind)) behind"
            },
            ListColumn(.whole("AUTHOR").optional, isUsual: false) { .id($0.replicaID, short) },
        ]
    }
}
