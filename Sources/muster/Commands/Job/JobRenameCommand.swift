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
        let (renamed, others) = try await options.withClient { client in
            let renamed = try await client.renameJob(RenameJobRequest(name: name), job: job.reference)
            return (renamed, try await client.namesakes(of: renamed.id))
        }
        try options.report(renamed, "Renamed job \(renamed.id).")
        others.warn()
    }
}

/// A job's own name, and the living jobs that have it, too.
struct Namesakes {
    let job: String
    let name: String
    let others: [JobListEntry]

    /// Says so if there are any: a name that several have names none of them.
    func warn() {
        guard let first = others.first else { return }
        let more = others.count > 1 ? " and \(counted(others.count - 1, "other"))" : ""
        StandardError.say(
            """
            \(first.id) (\(first.kind.rawValue), \(counted(first.items, "item")), changed \(Formats.time(first.updatedAt)))\(more) \
            is called \"\(Text.plain(name))\", too: tell them apart by their ids, or with 'muster job rename \(job) NAME'.
            """)
    }
}

extension LocalClient {
    func namesakes(of id: String) async throws -> Namesakes {
        let name = try await job(id).name
        let others = try await jobs(named: name).filter { $0.id != id && !$0.isRemoved }
        return Namesakes(job: id, name: name, others: others)
    }
}
