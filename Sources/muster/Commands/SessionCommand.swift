import ArgumentParser
import LocalAPI

struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Say who is at this laptop: the name stands beside every change.",
        discussion: """
            A session is of a user of this machine (the system says which), until it ends or another one begins. It \
            says who is there and how far off the clock is. Names are those of the crew's list: who was named here, or \
            in a job that is held here. Somebody who is not on it yet is entered with --new.

            Examples:
              muster session start Ann
              muster session start "Bob Miller" --new
              muster session end
            """,
        subcommands: [
            SessionStartCommand.self, SessionEndCommand.self, SessionShowCommand.self, SessionListCommand.self,
        ])
}

struct SessionStartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Begin a session, in the place of one that goes on.",
        discussion: "Example:\n  muster session start Ann")

    @Argument(
        help: "A name of the crew's list; small and capital letters are the same.",
        completion: Offers.people)
    var name: String

    @Flag(name: .customLong("new"), help: "It is somebody whom the crew's list does not have yet.")
    var isNew = false

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let request = BeginSessionRequest(name: name, isNew: isNew)
        let report = try await options.withClient { try await $0.beginSession(request) }
        if options.json { return try StandardOutput.json(report) }
        guard let session = report.session else { return }
        let former = report.former.map { $0.name == session.name ? "" : ", instead of \(Text.plain($0.name))" } ?? ""
        StandardOutput.say("\(Text.plain(session.name)) is at this laptop from now on\(former); \(session.clock).")
    }
}

struct SessionEndCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end",
        abstract: "End the session: what follows is nobody's by name.",
        discussion: "Example:\n  muster session end")

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let report = try await options.withClient { try await $0.endSession() }
        if options.json { return try StandardOutput.json(report) }
        guard let former = report.former else { return StandardOutput.say("There was no session to end.") }
        StandardOutput.say("The session of \(Text.plain(former.name)) has ended.")
    }
}

struct SessionShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show who is at this laptop.",
        discussion: "Example:\n  muster session show --all")

    @Flag(help: "Of all users of this machine.")
    var all = false

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        guard !all else { return try await showAll() }
        let report = try await options.withClient { try await $0.session() }
        if options.json { return try StandardOutput.json(report) }
        guard let session = report.session else {
            return StandardOutput.say("Nobody has a session here; 'muster session start NAME' begins one.")
        }
        StandardOutput.say(session.description)
    }

    private func showAll() async throws {
        let crew = try await options.withClient { try await $0.crew() }
        if options.json { return try StandardOutput.json(crew) }
        guard !crew.sessions.isEmpty else { return StandardOutput.say("Nobody has a session here.") }
        var table = Table([.number("USER"), .text("PERSON"), .whole("SINCE"), .text("CLOCK")])
        for one in crew.sessions {
            table.add("\(one.user)", Cell(one.session.name), .time(one.session.since), Cell(one.session.clock))
        }
        table.print(on: .output)
    }
}

struct SessionListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the names of the crew, one a line.",
        discussion: "Example:\n  muster session list",
        aliases: ["ls"])

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let crew = try await options.withClient { try await $0.crew() }
        if options.json { return try StandardOutput.json(crew) }
        StandardOutput.lines(crew.names.map(Text.plain))
    }
}

extension Session {
    /// Who, since when, and the clock then.
    var description: String { "\(Text.plain(name)), since \(Formats.time(since)); \(clock)" }

    /// How far off it was.
    var clock: String {
        guard let driftMilliseconds else { return "clock not compared with any other" }
        return "clock \(Formats.offset(driftMilliseconds, uncertainty: uncertaintyMilliseconds))"
    }
}
