import ArgumentParser
import LocalAPI

struct JobWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watch a job change, live, until Ctrl-C.",
        discussion: """
            In a terminal a view that keeps itself up to date; elsewhere a line per change as it arrives; with --json \
            the events, one per line. The view waits for a daemon that goes away; what is piped ends with 69 then. \
            A change that arrives late has its place further up: (anchor, at, counter, by, sequence) tells it, and the \
            view puts it there.

            Example:
              muster job watch "Smith, 12 Elm Street"
            """)

    @OptionGroup var job: JobArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let terminal = Terminal.output
        let (reference, json) = (job.reference, options.json)
        try await options.withClient { client in
            let id = try await client.job(reference).id
            try await untilInterrupted {
                if json {
                    try await client.events(job: id) { try StandardOutput.jsonLine($0) }
                    throw APIError.daemonHasStopped
                } else if terminal.canRedraw {
                    try await LiveWatch(client: client, job: id).run()
                } else {
                    try await Self.lines(client, id)
                }
            }
        }
    }

    private static func lines(_ client: LocalClient, _ job: String) async throws {
        try await client.events(job: job) {
            // Counted once changes are told, so that none is in neither.
            let details = try await client.job(job)
            let peers = details.sync == .notConnected ? "; no laptop is connected" : ""
            StandardOutput.say("Watching \(Text.plain(details.name)): \(counted(details.items, "item"))\(peers).")
        } _: { event in
            if case .change(let change) = event {
                StandardOutput.lines([ChangeLine(change).text(width: Terminal.output.width, style: .plain)])
            }
        }
        throw APIError.daemonHasStopped
    }
}
