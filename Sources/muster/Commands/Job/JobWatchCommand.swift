import ArgumentParser
import LocalAPI

struct JobWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watch a job change, live, until Ctrl-C or its end.",
        discussion: """
            In a terminal a view that keeps itself up to date; elsewhere a line per change as it arrives; with --json \
            the events, one per line. The view waits for a daemon that goes away; what is piped ends with 69 then. A job \
            that is removed ends both with 65. \
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
            let id = try await client.livingJob(reference).id
            try await untilInterrupted {
                if json {
                    try await Self.events(client, id)
                } else if terminal.canRedraw {
                    try await LiveWatch(client: client, job: id).run()
                } else {
                    try await Self.lines(client, id)
                }
            }
        }
    }

    private static func events(_ client: LocalClient, _ job: String) async throws {
        try await client.events(job: job) {
            _ = try await client.livingJob(job)
        } _: { event in
            try StandardOutput.jsonLine(event)
            if event.endsJob { _ = try await client.livingJob(job) }
        }
        throw APIError.daemonHasStopped
    }

    private static func lines(_ client: LocalClient, _ job: String) async throws {
        try await client.events(job: job) {
            // Counted once changes are told, so that none is in neither.
            let details = try await client.livingJob(job)
            let peers = details.sync == .notConnected ? "; no laptop is connected" : ""
            StandardOutput.say("Watching \(Text.plain(details.name)): \(counted(details.items, "item"))\(peers).")
        } _: { event in
            if case .change(let change) = event {
                StandardOutput.lines([ChangeLine(change).text(width: Terminal.output.width, style: .plain)])
            } else if event.endsJob {
                _ = try await client.livingJob(job)
            }
        }
        throw APIError.daemonHasStopped
    }
}

extension Event {
    fileprivate var endsJob: Bool { if case .job(let advanced) = self { advanced.isRemoved } else { false } }
}

extension LocalClient {
    /// Throws `jobRemoved` where nothing more can be seen of a job: whoever watched it would wait for ever.
    func livingJob(_ reference: String) async throws -> JobDetails {
        let details = try await job(reference)
        guard details.isRemoved else { return details }
        let late = ShellWord.command(["muster", "job", "late", details.name])
        throw APIError(
            .jobRemoved,
            "The job '\(details.name)' has been removed, and nothing more happens in it; '\(late)' shows work on it that came too late."
        )
    }
}
