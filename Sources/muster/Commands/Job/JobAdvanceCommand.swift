import ArgumentParser
import Inventory
import LocalAPI

struct JobAdvanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advance",
        abstract: "Ask the office's server for another state of a job.",
        discussion: """
            States: scheduled, dispatched, inProgress, awaitingSignature, completed, cancelled. The wish is kept here \
            and goes to the server when this laptop, or one that it meets, has the internet. Until then the job \
            shows both, as in "scheduled → dispatched".

            Example:
              muster job advance "Smith, 12 Elm Street" dispatched
            """)

    @OptionGroup var job: JobArgument

    @Argument(
        help: ArgumentHelp("The state that it is to have.", valueName: "state"), completion: Offers.states)
    var state: String

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let queued = try await options.withClient {
            try await $0.advance(AdvanceRequest(state: state), job: job.reference)
        }
        if options.json { return try StandardOutput.json(queued) }
        guard queued.isNew else {
            let token = queued.tokens.first.map(ShortIDs.random) ?? ""
            return StandardOutput.say(
                "\(Text.plain(state)) is asked for already: 'muster queue show \(token)' tells how that stands.")
        }
        StandardOutput.say("Asked for \(Text.plain(state)); 'muster queue list' shows what waits for the server.")
    }
}
