import ArgumentParser
import LocalAPI

struct QueueRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Try a request now instead of when its wait is over.",
        discussion: "Example:\n  muster queue retry 3f2a90c1")

    @OptionGroup var named: TokenArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let entry = try await options.withClient { try await $0.retry(named.token) }
        if options.json { return try StandardOutput.json(entry) }
        StandardOutput.say("Will \(Text.plain(entry.wish)) \(entry.whenRetried).")
    }
}

extension QueueEntry {
    /// When it goes after a retry by hand.
    var whenRetried: String {
        switch state {
        case .paused: "as soon as 'muster queue resume' ends the pause"
        case .behind: "after what goes before it in its job"
        default: "as soon as the server can be reached"
        }
    }
}

struct QueueDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Take a request back, or take note that the server rejected it.",
        discussion: "Example:\n  muster queue drop 3f2a90c1")

    @OptionGroup var named: TokenArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let entry = try await options.withClient { try await $0.drop(named.token) }
        if options.json { return try StandardOutput.json(entry) }
        let job = entry.jobName.map { "\"\(Text.plain($0))\"" } ?? ShortIDs.one(entry.job)
        StandardOutput.say("Dropped \(ShortIDs.random(entry.token)) of the job \(job): \(Text.plain(entry.wish)).")
    }
}

struct PauseArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("A job's name or id; everything of this laptop if left out.", valueName: "job"),
        completion: Offers.jobs)
    var job: String?

    func validate() throws {
        // A script's empty variable must not mean everything.
        if job == "" { throw ValidationError("Name the job, or leave it out for everything of this laptop.") }
    }

    var request: LaneRequest { LaneRequest(lane: job) }
    var description: String { job.map { "What concerns \(Text.plain($0))" } ?? "Everything of this laptop" }
}

struct QueuePauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Send nothing of this laptop, or of one job, until it is resumed.",
        discussion: """
            What another laptop knows of already it delivers all the same; 'muster queue drop' takes it back.

            Example:
              muster queue pause "Smith, 12 Elm Street"
            """)

    @OptionGroup var paused: PauseArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let status = try await options.withClient { try await $0.pause(paused.request) }
        if options.json { return try StandardOutput.json(status) }
        StandardOutput.say("\(paused.description) waits for 'muster queue resume'.")
        StandardOutput.say("What another laptop has heard of, that one may deliver all the same.")
    }
}

struct QueueResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "End a pause; without a job every pause.",
        discussion: "Example:\n  muster queue resume")

    @OptionGroup var paused: PauseArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let status = try await options.withClient { try await $0.resume(paused.request) }
        if options.json { return try StandardOutput.json(status) }
        guard status.wasPaused != false else {
            return StandardOutput.say("Nothing was paused\(paused.job.map { " of \(Text.plain($0))" } ?? "").")
        }
        StandardOutput.say("\(paused.description) goes on.")
    }
}
