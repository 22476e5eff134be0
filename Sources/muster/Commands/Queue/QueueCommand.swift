import ArgumentParser
import LocalAPI

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Show what waits for the server, and retry, drop or pause it.",
        discussion: "Example:\n  muster queue list",
        subcommands: [
            QueueListCommand.self, QueueShowCommand.self, QueueRetryCommand.self, QueueDropCommand.self,
            QueuePauseCommand.self, QueueResumeCommand.self, QueueLogCommand.self,
        ])
}

struct TokenArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("A request's token, or the beginning of one.", valueName: "token"),
        completion: Offers.tokens)
    var token: String

    func validate() throws {
        // Every token begins with nothing: a script's empty variable must not choose.
        if token.isEmpty { throw ValidationError("Name the request: 'muster queue list' shows their tokens.") }
    }
}

extension QueueEntry {
    /// The state, and when the next attempt is due.
    var stateDescription: String {
        guard state == .waiting, let nextAttemptAt else { return state.rawValue }
        return "waiting until \(Formats.time(nextAttemptAt))"
    }
}
