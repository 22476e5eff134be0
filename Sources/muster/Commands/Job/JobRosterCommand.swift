import ArgumentParser
import LocalAPI

struct JobRosterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roster",
        abstract: "Show who takes part in a job, when each was heard of, and how much each holds.",
        discussion: "Example:\n  muster job roster \"Smith, 12 Elm Street\"")

    @OptionGroup var job: JobArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let (members, assignment) = try await options.withClient { client in
            (try await client.roster(job: job.reference), try await client.assignment(job: job.reference))
        }
        if options.json { return try StandardOutput.json(members) }
        if !assignment.isEverybodys { StandardOutput.write(assignment.words + "\n\n") }
        guard !members.isEmpty else { return StandardOutput.write("Nobody has written in this job yet.\n") }
        let short = ShortIDs(members.map(\.replicaID))
        var table = Table([
            .whole("REPLICA"), .text("LAPTOP"), .whole("LAST CHANGE"), .whole("HEARD OF"), .whole("HOLDS"),
        ])
        for member in members {
            let name = (member.name ?? "–") + (member.isOwn ? " (this one)" : "")
            table.add(
                short[member.replicaID], name, Formats.time(member.lastSeenAt),
                member.isConnected ? "now" : Formats.time(member.heardAt), holds(member))
        }
        table.print(on: .output)
    }

    private func holds(_ member: RosterMember) -> String {
        guard let behind = member.behind else { return "not known" }
        return behind == 0 ? "everything" : "\(Formats.count(behind)) behind"
    }
}
