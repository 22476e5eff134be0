import ArgumentParser
import LocalAPI

struct QueueListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what waits for the server, in the order in which it goes.",
        discussion: "Example:\n  muster queue list",
        aliases: ["ls"])

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let queue = try await options.withClient { try await $0.queue() }
        if options.json { return try StandardOutput.json(queue) }
        guard !queue.isEmpty else { return StandardOutput.write("Nothing waits for the server.\n") }
        var table = Table([
            .whole("TOKEN"), .text("JOB"), .text("WISH"), .whole("STATE"), .number("TRIES"), .text("LAST ERROR"),
        ])
        for entry in queue {
            table.add(
                ShortIDs.random(entry.token), entry.jobName ?? entry.job,
                entry.wish + (entry.isOwn ? "" : " (another laptop's)"), entry.state.rawValue,
                Formats.count(entry.attempts), entry.lastError ?? "–")
        }
        table.print(on: .output)
    }
}
