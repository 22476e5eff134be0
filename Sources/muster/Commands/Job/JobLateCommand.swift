import ArgumentParser
import LocalAPI

struct JobLateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "late",
        abstract: "Show work that came too late to be applied, and accept or drop it.",
        usage: """
            muster job late <job> [--accept <replica|--all>]
                            [--drop <replica|--all>] [--yes]
                            [--json] [--socket <path>]
            """,
        discussion: """
            A laptop that was taken off the roster, or away while removed items were forgotten, may bring work that \
            nobody has seen. It is kept and listed here until a person accepts it, which makes new changes of it, or \
            drops it.

            Examples:
              muster job late "Smith, 12 Elm Street"
              muster job late "Smith, 12 Elm Street" --accept bert-laptop
              muster job late "Smith, 12 Elm Street" --drop --all --yes
            """)

    @OptionGroup var job: JobArgument

    // Unconditional, so that "--all" can stand in the place of a replica.
    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Accept a replica's, by its id or its laptop's name, or --all.", valueName: "replica|--all"))
    var accept: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Drop a replica's, or --all.", valueName: "replica|--all"))
    var drop: String?

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func validate() throws {
        if accept != nil, drop != nil { throw ValidationError("Give --accept or --drop, not both.") }
        // Every id begins with nothing: a script's empty variable must not choose.
        if accept == "" || drop == "" { throw ValidationError("Say whose late work is meant, or --all.") }
    }

    func run() async throws {
        try await options.withClient { client in
            let late = try await client.late(job: job.reference)
            guard let whose = accept ?? drop else { return try show(late) }
            let chosen = try changes(of: whose, in: late)
            if drop != nil {
                try confirmation.confirm(
                    "This leaves \(counted(chosen.count, "late change")) out for good, on every device.", "Drop?")
            }
            let decision = LateDecision(
                upTo: Dictionary(chosen.map { ($0.replicaID, $0.last) }, uniquingKeysWith: max))
            let outcome =
                drop != nil
                ? try await client.dropLate(decision, job: job.reference)
                : try await client.acceptLate(decision, job: job.reference)
            if options.json { return try StandardOutput.json(outcome) }
            let verb = drop != nil ? "Dropped" : "Accepted"
            let jobs = outcome.newJobs.joined(separator: " and ")
            let made = jobs.isEmpty ? "" : ", in the new job\(outcome.newJobs.count == 1 ? "" : "s") \(jobs)"
            StandardOutput.write("\(verb) \(counted(outcome.changes, "late change"))\(made).\n")
        }
    }

    private func show(_ late: [LateChange]) throws {
        if options.json { return try StandardOutput.json(late) }
        guard !late.isEmpty else { return StandardOutput.write("Nothing came too late.\n") }
        let terminal = Terminal.output
        var lines: [String] = []
        for (replica, changes) in Dictionary(grouping: late, by: \.replicaID).sorted(by: { $0.key < $1.key }) {
            let name = authorDisplayName(replica, changes.first?.name)
            lines.append("\(counted(changes.count, "late change")) of \(name) (\(ShortIDs.random(replica))):")
            lines += changes.map { "  " + ChangeLine($0.change).text(width: terminal.width - 2, style: terminal.style) }
        }
        lines.append("Take them in with --accept REPLICA, or leave them out with --drop REPLICA.")
        StandardOutput.lines(lines)
    }

    private func changes(of whose: String, in late: [LateChange]) throws -> [LateChange] {
        let all = Set(late.map(\.replicaID))
        if whose == "--all" {
            if late.isEmpty { throw APIError(.unknownReplica, "Nothing came too late: there is nothing to decide.") }
            return late
        }
        let fitting = all.filter { id in
            id.hasPrefix(whose.lowercased()) || late.contains { $0.replicaID == id && $0.name == whose }
        }
        guard let replica = fitting.first else {
            throw APIError(
                .unknownReplica, "No late work is of \"\(whose)\": see 'muster job late' for whose there is.")
        }
        guard fitting.count == 1 else {
            let ids = fitting.map(ShortIDs.random).sorted().joined(separator: ", ")
            throw APIError(.ambiguousReplica, "\"\(whose)\" fits \(ids): write the id of one.")
        }
        return late.filter { $0.replicaID == replica }
    }
}
