import ArgumentParser
import CRDT
import LocalAPI

struct JobLateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "late",
        abstract: "Show work that came too late to count, and take it over or drop it.",
        usage: """
            muster job late <job> [--accept <change> ... | --drop <change> ...]
                            [--yes] [--json] [--socket <path>]
            """,
        discussion: """
            Who removed the job had not seen these changes, or a laptop wrote them that was revoked: they came after what \
            was known of it then. They are kept until a person takes them over or drops them: into the job, or, where \
            that was removed, into a new one that is named after it. Name each change by its id, or write "all" for \
            those that are listed now. A name means a job that has late work, be it removed.

            Examples:
              muster job late "Smith, 12 Elm Street"
              muster job late "Smith, 12 Elm Street" --accept 3f9a2c:17 3f9a2c:18
              muster job late "Smith, 12 Elm Street" --drop all --yes
            """)

    @OptionGroup var job: JobArgument

    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp("Take these over.", valueName: "change"))
    var accept: [String] = []

    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp("Leave these out for good.", valueName: "change"))
    var drop: [String] = []

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func validate() throws {
        if !accept.isEmpty, !drop.isEmpty { throw ValidationError("Give --accept or --drop, not both.") }
        // Every id begins with nothing: a script's empty variable must not choose.
        if (accept + drop).contains("") { throw ValidationError("Say which changes are meant, or all.") }
    }

    func run() async throws {
        try await options.withClient { client in
            let late = try await client.late(job: job.reference)
            guard !accept.isEmpty || !drop.isEmpty else { return try show(late) }
            let chosen = try changes(accept + drop, in: late)
            if !drop.isEmpty {
                try confirmation.confirm(
                    "This leaves \(counted(chosen.count, "late change")) out for good, on every laptop.", "Drop?")
            }
            let decision = LateDecision(changes: chosen.map(\.id))
            let outcome =
                drop.isEmpty
                ? try await client.acceptLate(decision, job: job.reference)
                : try await client.dropLate(decision, job: job.reference)
            if options.json { return try StandardOutput.json(outcome) }
            let count = counted(outcome.changes, "late change")
            guard drop.isEmpty else { return StandardOutput.say("Dropped \(count).") }
            // What was done is done and told, whether or not the job's name can be found out.
            let found = try? await client.job(outcome.newJob ?? job.reference)
            let name = found.map { "\"\(Text.plain($0.name))\" " } ?? ""
            let id = found?.id ?? outcome.newJob ?? job.reference
            StandardOutput.say("Accepted \(count) into the job \(name)(\(ShortIDs.one(id))).")
        }
    }

    private func show(_ late: [LateChange]) throws {
        if options.json { return try StandardOutput.json(late) }
        guard let first = late.first else { return StandardOutput.say("There is no late work.") }
        let terminal = Terminal.output
        let names = ChangeNames(late)
        guard !terminal.isPiped else {
            let rows = late.map { change in
                let author = authorDisplayName(change.by, change.byName, change.change.person)
                return [Cell(change.id), .time(change.change.at), Cell(author)]
                    + ChangeLine(change.change).cells.suffix(2)
            }
            return StandardOutput.lines(rows.map(Table.exactLine))
        }
        var lines = late.flatMap { change in
            ChangeLine(change.change).block(
                called: names[change], author: authorDisplayName(change.by, change.byName, change.change.person),
                width: terminal.width, style: terminal.style)
        }
        lines.append("")
        lines += Text.wrapped("To take the first of them over, or to leave it out:", to: terminal.width)
        let command = ShellWord.command(["muster", "job", "late", ShortIDs.one(job.reference)])
        lines += ["accept", "drop"].map { "  \(command) --\($0) \(names[first])" }
        StandardOutput.lines(lines)
    }

    private func changes(_ named: [String], in late: [LateChange]) throws -> [LateChange] {
        guard !late.isEmpty else {
            throw APIError(.unknownChange, "There is no late work in this job: there is nothing to decide.")
        }
        if named == ["all"] { return late }
        let names = ChangeNames(late)
        return try named.map { text in
            let fitting = late.filter { names.fits(text, $0) }
            guard let change = fitting.first else {
                throw APIError(
                    .unknownChange, "No late change is called \"\(text)\": see 'muster job late JOB' for their names.")
            }
            guard fitting.count == 1 else {
                throw APIError(.ambiguousChange, "\"\(text)\" fits several changes: write more of the id.")
            }
            return change
        }
    }
}

/// Changes are named by the beginning of their journal's id and a number.
private struct ChangeNames {
    private let short: ShortIDs

    init(_ late: [LateChange]) {
        short = ShortIDs(late.map { Self.parts($0.id).journal })
    }

    subscript(change: LateChange) -> String {
        let (journal, number) = Self.parts(change.id)
        return "\(short[journal]):\(number)"
    }

    func fits(_ text: String, _ change: LateChange) -> Bool {
        let (given, known) = (Self.parts(text.lowercased()), Self.parts(change.id))
        return known.journal.begins(with: given.journal) && known.number == given.number
    }

    private static func parts(_ id: String) -> (journal: String, number: String) {
        let parts = id.split(separator: ":", maxSplits: 1).map(String.init)
        return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
    }
}
