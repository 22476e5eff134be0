import ArgumentParser
import LocalAPI

struct JobRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a whole job for good, on every laptop.",
        discussion: """
            All its items and their history go, on this laptop at once and on the others when they hear of it. What \
            others have written meanwhile is kept as late work. Its id is never used again. Export it first.

            Example:
              muster job remove "Smith, 12 Elm Street"
            """,
        aliases: ["rm"])

    @OptionGroup var job: JobArgument
    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try await options.withClient { client in
            let details = try await client.job(job.reference)
            try confirmation.confirm(
                "This removes the job \"\(details.name)\" with \(counted(details.items, "item")) for good, on every "
                    + "laptop.", writingNameOf: details)
            let removed = try await client.removeJob(details.id, isConfirmed: true)
            try options.report(
                removed, "Removed the job \"\(Text.plain(details.name))\" (\(ShortIDs.one(removed.id))).")
        }
    }
}
