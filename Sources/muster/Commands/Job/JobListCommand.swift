import ArgumentParser
import Inventory
import LocalAPI

struct JobListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the jobs on this device.",
        discussion: "Example:\n  muster job list",
        aliases: ["ls"])

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let jobs = try await options.withClient { try await $0.jobs() }
        if options.json { return try StandardOutput.json(jobs) }
        guard !jobs.isEmpty else {
            return StandardOutput.write("There is no job yet; make one with 'muster job create --name NAME'.\n")
        }
        let short = ShortIDs(jobs.map(\.id))
        var table = Table([
            .whole("ID"), .text("NAME"), .whole("KIND"), .text("STATE"), .number("ITEMS"), .number("CONFLICTS"),
            .whole("CHANGED"),
        ])
        for job in jobs {
            table.add(
                short[job.id], job.name, job.kind.rawValue, job.isRemoved ? "removed" : job.state.description,
                Formats.count(job.items),
                Formats.count(job.conflicts), Formats.time(job.updatedAt))
        }
        table.print(on: .output)
    }
}
