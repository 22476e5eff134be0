import ArgumentParser
import LocalAPI

struct QueueListCommand: ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what waits for the server, in the order in which it goes.",
        usage: ListOptions.usage("muster queue list"),
        discussion: """
            \(columns.described())

            Example:
              muster queue list --columns job,request,last-error
            """,
        aliases: ["ls"])

    static var columnNames: [String] { columns.map(\.key) }

    @OptionGroup var list: ListOptions
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let queue = try await options.withClient { try await $0.queue() }
        try options.print(queue, list, columns: Self.columns, none: "Nothing waits for the server.")
    }

    private static var columns: [ListColumn<QueueEntry>] {
        [
            ListColumn(.whole("TOKEN")) { .id($0.token) },
            ListColumn(.text("JOB")) { Cell($0.jobName ?? $0.job) },
            ListColumn(.text("REQUEST")) { Cell($0.wish + ($0.isOwn ? "" : " (another laptop's)")) },
            ListColumn(.whole("STATE")) { Cell($0.state.rawValue) },
            ListColumn(.number("TRIES").optional) { .count($0.attempts) },
            ListColumn(.text("LAST ERROR").optional) { Cell($0.lastError) },
            ListColumn(.whole("ASKED").optional, isUsual: false) { .time($0.createdAt) },
            ListColumn(.text("BY").optional, isUsual: false) { Cell($0.askedBy) },
            ListColumn(.whole("NEXT").optional, isUsual: false) { .time($0.nextAttemptAt) },
            ListColumn(.number("PRIORITY").optional, isUsual: false) { .count($0.priority) },
        ]
    }
}
