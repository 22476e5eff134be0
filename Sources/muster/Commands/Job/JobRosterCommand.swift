import ArgumentParser
import LocalAPI

struct JobRosterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roster",
        abstract: "Show which replicas take part in a job and how much each holds, or take a lost one off.",
        usage: """
            muster job roster <job> [--remove <replica>] [--yes]
                              [--json] [--socket <path>]
            """,
        discussion: """
            Removed items are forgotten only when every replica on the roster holds their removal. So a laptop that \
            is lost or broken should be taken off. What it holds is not deleted; if it returns, its work that nobody \
            has seen is listed by 'muster job late' for a person to decide.

            Examples:
              muster job roster "Smith, 12 Elm Street"
              muster job roster "Smith, 12 Elm Street" --remove bert-laptop
            """)

    @OptionGroup var job: JobArgument

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Take this one off: its id, the beginning of one, or its laptop's name.", valueName: "replica"))
    var remove: String?

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func validate() throws {
        // Every id begins with nothing: a script's empty variable must not choose.
        if remove == "" { throw ValidationError("Say which replica to take off: 'muster job roster' shows them.") }
    }

    func run() async throws {
        try await options.withClient { client in
            let members = try await client.roster(job: job.reference)
            guard let remove else { return try show(members) }
            let named = try find(remove, among: members)
            let name = authorDisplayName(named.replicaID, named.name)
            try confirmation.confirm(
                "This takes \(name) (\(ShortIDs.random(named.replicaID))) off the roster of this job, on every device: "
                    + "nobody waits for it any longer, and what it has written and nobody has seen is not applied "
                    + "when it returns, until a person accepts it.", "Take it off?")
            let expelled = try await client.expel(named.replicaID, job: job.reference)
            if options.json { return try StandardOutput.json(expelled) }
            StandardOutput.write("\(name) is off the roster.\n")
        }
    }

    private func show(_ members: [RosterMember]) throws {
        if options.json { return try StandardOutput.json(members) }
        let short = ShortIDs(members.map(\.replicaID))
        var table = Table([
            .whole("REPLICA"), .text("LAPTOP"), .whole("SINCE"), .whole("LAST SEEN"), .whole("HOLDS"), .number("LATE"),
        ])
        for member in members {
            let name = (member.name ?? "–") + (member.isOwn ? " (this one)" : "")
            let holds = member.behind == 0 ? "complete" : "\(Formats.count(member.behind)) behind"
            table.add(
                short[member.replicaID], name, Formats.time(member.since), Formats.time(member.lastSeenAt),
                member.isExpelled ? "taken off" : holds, member.late == 0 ? "–" : Formats.count(member.late))
        }
        table.print(on: .output)
    }

    private func find(_ reference: String, among members: [RosterMember]) throws -> RosterMember {
        let fitting = members.filter { $0.replicaID.hasPrefix(reference.lowercased()) || $0.name == reference }
        guard let member = fitting.first else {
            throw APIError(
                .unknownReplica,
                "The roster has no \"\(reference)\": see 'muster job roster' for the replicas and their laptops.")
        }
        guard fitting.count == 1 else {
            let ids = fitting.map { ShortIDs.random($0.replicaID) }.joined(separator: ", ")
            throw APIError(.ambiguousReplica, "\"\(reference)\" fits \(ids): write the id of one.")
        }
        return member
    }
}
