import ArgumentParser
import LocalAPI

struct QueueRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Try a mutation now instead of when its wait is over.",
        discussion: "Example:\n  muster queue retry 3f2a90c1")

    @OptionGroup var named: TokenArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let entry = try await options.withClient { try await $0.retry(named.token) }
        if options.json { return try StandardOutput.json(entry) }
        StandardOutput.write("Will \(Text.plain(entry.wish)) \(entry.whenRetried).\n")
    }
}

extension QueueEntry {
    /// When it goes after a retry by hand.
    var whenRetried: String {
        switch state {
        case .paused: "as soon as 'muster queue resume' ends the pause"
        case .behind: "after what goes before it in its lane"
        default: "as soon as the server can be reached"
        }
    }
}

struct QueueDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Take a mutation back, or take note that the server rejected it.",
        discussion: "Example:\n  muster queue drop 3f2a90c1")

    @OptionGroup var named: TokenArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let entry = try await options.withClient { try await $0.drop(named.token) }
        if options.json { return try StandardOutput.json(entry) }
        StandardOutput.write("Dropped: \(Text.plain(entry.wish)).\n")
    }
}

struct LaneArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("JOB/NAME, as 'muster queue show' shows it; all if left out.", valueName: "lane"))
    var lane: String?

    func validate() throws {
        // A script's empty variable must not mean everything.
        if lane == "" { throw ValidationError("Name the lane as 'muster queue show' does, or leave it out.") }
    }

    var request: LaneRequest { LaneRequest(lane: lane) }
    var description: String { lane.map(Text.plain) ?? "Everything of this laptop" }
}

struct QueuePauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Send nothing of this laptop, or of one lane, until it is resumed.",
        discussion: """
            What another laptop knows of already it delivers all the same; 'muster queue drop' takes it back.

            Example:
              muster queue pause 0190f5fe-7c00-7000-8000-000000000001/state
            """)

    @OptionGroup var lane: LaneArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let status = try await options.withClient { try await $0.pause(lane.request) }
        if options.json { return try StandardOutput.json(status) }
        StandardOutput.lines([
            "\(lane.description) waits for 'muster queue resume'.",
            "What another laptop has heard of, that one may deliver all the same.",
        ])
    }
}

struct QueueResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "End a pause; without a lane every pause.",
        discussion: "Example:\n  muster queue resume")

    @OptionGroup var lane: LaneArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let status = try await options.withClient { try await $0.resume(lane.request) }
        if options.json { return try StandardOutput.json(status) }
        StandardOutput.write("\(lane.description) goes on.\n")
    }
}
