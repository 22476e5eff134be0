import ArgumentParser
import LocalAPI

struct QueueLogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show every attempt to deliver something, with what came of it.",
        discussion: "Example:\n  muster queue log --json > attempts.json")

    @Option(help: ArgumentHelp("How many of the last attempts; at most 10000.", valueName: "number"))
    var last = 1_000

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let attempts = try await options.withClient { try await $0.attempts(limit: last) }
        if options.json { return try StandardOutput.json(attempts) }
        guard !attempts.isEmpty else { return StandardOutput.write("Nothing has been sent yet.\n") }
        var table = Table([
            .whole("AT"), .whole("TOKEN"), .number("TRY"), .whole("OUTCOME"), .number("STATUS"), .number("MS"),
            .whole("NEXT"), .text("DETAIL"),
        ])
        for attempt in attempts {
            table.add(
                Formats.time(attempt.at), ShortIDs.random(attempt.token), Formats.count(attempt.attempt),
                attempt.outcome, attempt.status.map { "\($0)" } ?? "–", Formats.count(attempt.durationMilliseconds),
                Formats.time(attempt.nextAttemptAt), attempt.detail.isEmpty ? "–" : attempt.detail)
        }
        table.print(on: .output)
    }
}
