import ArgumentParser
import LocalAPI

struct QueueLogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show every attempt to deliver something, what it was and what came of it.",
        discussion: "Example:\n  muster queue log --json > attempts.json")

    @Option(help: ArgumentHelp("How many of the last attempts; at most 10000.", valueName: "number"))
    var last = 1_000

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let attempts = try await options.withClient { try await $0.attempts(limit: last) }
        if options.json { return try StandardOutput.json(attempts) }
        guard !attempts.isEmpty else { return StandardOutput.write("Nothing has been sent yet.\n") }
        var table = Table([
            .whole("AT"), .whole("TOKEN"), .text("WISH"), .number("TRY"), .whole("OUTCOME"), .whole("NEXT"),
            .text("DETAIL"),
        ])
        for attempt in attempts {
            let detail = [attempt.status.map { "\($0)" }, attempt.detail.isEmpty ? nil : attempt.detail]
            let wish = [attempt.wish, attempt.jobName ?? attempt.job].compactMap(\.self).joined(separator: ": ")
            table.add(
                Formats.time(attempt.at), ShortIDs.random(attempt.token), wish.isEmpty ? "–" : wish,
                Formats.count(attempt.attempt), attempt.outcome, Formats.time(attempt.nextAttemptAt),
                attempt.status == nil && attempt.detail.isEmpty
                    ? "–" : detail.compactMap(\.self).joined(separator: ": "))
        }
        table.print(on: .output)
    }
}
