import ArgumentParser
import Inventory
import LocalAPI

struct JobRenameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Call a job something else, on every laptop and at the office.",
        discussion: """
            Of two laptops that rename it the last one counts, and 'muster job conflicts' lists the other name. Of two jobs \
            with one name it is told by its id which of them is meant.

            Examples:
              muster job rename "Smith, 12 Elm Street" "Smith, 14 Elm Street"
              muster job rename 01953b2e "Smith, second van"
            """)

    @OptionGroup var job: JobArgument

    @Argument(help: ArgumentHelp("What people call it from now on.", valueName: "name"))
    var name: String

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try await options.withClient { client in
            let renamed = try await client.renameJob(RenameJobRequest(name: name), job: job.reference)
            try options.report(renamed, "The job is called \"\(Text.plain(name))\" now (\(ShortIDs.one(renamed.id))).")
            await client.warnOfNamesakes(of: renamed.id)
        }
    }
}

extension LocalClient {
    /// Says so where other living jobs have the job's name: a name that several have names none of them. What was done is done and
    /// told, whether or not that can be found out.
    func warnOfNamesakes(of id: String) async {
        guard let name = try? await job(id).name, let jobs = try? await jobs(named: name) else { return }
        let others = jobs.filter { $0.id != id && !$0.isRemoved }
        guard let first = others.first else { return }
        let more = others.count > 1 ? " and \(counted(others.count - 1, "other"))" : ""
        let short = ShortIDs(jobs.map(\.id))
        StandardError.say(
            """
            \(short.told(first.id)) (\(first.kind.rawValue), \(counted(first.items, "item")), changed \
            \(Formats.time(first.updatedAt)))\(more) is called \"\(Text.plain(name))\", too: tell them apart by their ids, or with \
            'muster job rename \(short.told(id)) NAME'.
            """)
    }
}
