import ArgumentParser
import LocalAPI

struct QueueLogCommand: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show every attempt to deliver something, what it was and what came of it.",
        usage: ListOptions.usage("muster queue log [--last <number>]\n      "),
        discussion: """
            \(columns.described())

            Example:
              muster queue log --json > attempts.json
            """)

    @Option(help: ArgumentHelp("How many of the last attempts; at most 10000.", valueName: "number"))
    var last = 1_000

    static var columnNames: [String] { columns.map(\.key) }

    @OptionGroup var list: ListOptions
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let attempts = try await options.withClient { try await $0.attempts(limit: last) }
        try options.print(attempts, list, columns: Self.columns, none: "Nothing has been sent yet.")
    }

    private static var columns: [ListColumn<QueueAttempt>] {
        [
            ListColumn(.whole("AT")) { .time($0.at) },
            ListColumn(.text("JOB")) { Cell($0.jobName ?? $0.job) },
            ListColumn(.text("REQUEST")) { Cell($0.wish) },
            ListColumn(.number("TRY").optional) { .count($0.attempt) },
            ListColumn(.text("OUTCOME")) { Cell(shown: Formats.words($0.outcome), exact: $0.outcome) },
            ListColumn(.text("DETAIL").optional) { attempt in
                let detail = [attempt.status.map { "\($0)" }, attempt.detail.isEmpty ? nil : attempt.detail]
                let known = detail.compactMap(\.self)
                return Cell(known.isEmpty ? nil : known.joined(separator: ": "))
            },
            ListColumn(.whole("NEXT").optional) { .time($0.nextAttemptAt) },
            ListColumn(.whole("TOKEN").optional) { .id($0.token) },
        ]
    }
}
