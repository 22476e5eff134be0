import ArgumentParser
import Inventory
import LocalAPI

extension JobKind: ExpressibleByArgument {}

struct JobCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a job and print its id.",
        usage: """
            muster job create --name <name> [--kind <kind>] [--id <id>]
                              [--for <laptop>]... [--json] [--socket <path>]
            """,
        discussion: """
            Where a living job has that name already, the new one is made all the same, and the other's id is told.

            Example:
              muster job create --name "Smith, 12 Elm Street" --kind pickup
            """)

    @Option(name: .long, help: "What people call it.")
    var name: String

    @Option(name: .long, help: "What it is for.")
    var kind: JobKind = .inventory

    @Option(
        name: .long, help: "The office's own number, 1 to 64 of A–Z a–z 0–9 . _ -, no dot first. Default: a new id.")
    var id: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "A laptop that is to receive it, besides this one; once for each. Default: every laptop of the fleet.",
            valueName: "laptop"), completion: Offers.laptops)
    var laptops: [String] = []

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let request = CreateJobRequest(name: name, kind: kind, id: id, laptops: laptops.isEmpty ? nil : laptops)
        try await options.withClient { client in
            let created = try await client.createJob(request)
            if options.json { try StandardOutput.json(created) } else { StandardOutput.write(created.id + "\n") }
            await client.warnOfNamesakes(of: created.id)
        }
    }
}
