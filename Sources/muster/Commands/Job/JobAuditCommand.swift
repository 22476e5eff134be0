import ArgumentParser
import Audit
import CRDT
import Glibc
import HTTPCoding
import LocalAPI
import Systemd

struct JobAuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Check who wrote a job's history, from the signatures of the laptops.",
        usage: "muster job audit <job|file> [--fleet <id>] [--changes] [--json]",
        discussion: """
            Takes a job, or a file that 'muster job export JOB --format history' has written; of a file it needs no \
            daemon. Each change must stand where its author has signed it, and the fleet's root must have let each \
            laptop in. Compare the fleet with what 'muster fleet show' says on a laptop that you trust, or name it \
            with --fleet. Exits with 1 when something is not its author's, or is missing. What a laptop wrote last, \
            after all that is here, may be missing without a trace.

            Example:
              muster job audit smith.history --changes
            """)

    @Argument(
        help: ArgumentHelp("A job, or a history's file; '-' reads it from standard input.", valueName: "job|file"))
    var reference: String

    @Option(help: ArgumentHelp("The fleet that it has to be of: see 'muster fleet show'.", valueName: "id"))
    var fleet: String?

    @Flag(help: "List all changes, one laptop after the other, each at the time of its author's clock.")
    var changes = false

    @OptionGroup var options: GlobalOptions

    private static let shortestID = 8

    func run() async throws {
        let expected = fleet?.lowercased()
        guard expected?.count ?? Self.shortestID >= Self.shortestID else {
            throw APIError(
                .invalidValue, "'\(fleet ?? "")' is too short for a fleet's id: give what 'muster fleet show' prints.")
        }
        let report: AuditReport
        do { report = try await audited() } catch let fault as HistoryAudit.Fault {
            throw APIError(.invalidValue, fault.sentence)
        }
        let isOfFleet = expected.map { report.rootID?.hasPrefix($0) ?? false } ?? true
        if options.json { try StandardOutput.json(report) } else { report.print(on: .output) }
        guard isOfFleet else {
            throw APIError(
                .invalidValue,
                "The history is of \(report.fleetID.map { "fleet \($0)" } ?? "no fleet"), not of \(expected ?? ""); compare with "
                    + "'muster fleet show', and trust nothing in it that you have not asked for.")
        }
        if !report.holds { throw Stop(code: .different) }
    }

    private func audited() async throws -> AuditReport {
        var reader = HistoryReader(listsChanges: changes && !options.json)
        var held: [String: UInt64] = [:]
        if let file = try InputFile(history: reference) {
            while let piece = try file.next() { try reader.add(piece) }
        } else {
            do {
                try await options.withClient { client in
                    // Before its history, which may be longer by then.
                    held = try await client.job(reference).vector
                    try await client.history(job: reference) { try reader.add($0) }
                }
            } catch let error as APIError where error.code == .unreachable {
                throw APIError(
                    error.code,
                    "There is no file '\(reference)' that can be seen, and of jobs no daemon tells. \(error.message)")
            }
        }
        let report = try await reader.report()
        // A broken journal is told of by name; of it no more counts than what was signed.
        guard !report.holds || report.reaches(held) else {
            throw APIError(
                .failed,
                "The history lacks changes of the job that the daemon says it holds: see whether 'muster doctor' finds its store damaged."
            )
        }
        return report
    }
}

/// Cuts what comes into lines for an audit.
struct HistoryReader {
    /// A run of 960 KiB in base64, and what stands beside it.
    private static let longestLine = 2 << 20

    private let listsChanges: Bool
    private var splitter = LineSplitter()
    private var audit = HistoryAudit()

    init(listsChanges: Bool) { self.listsChanges = listsChanges }

    mutating func add(_ piece: [UInt8]) throws {
        guard splitter.restBytes <= Self.longestLine else { throw HistoryAudit.Fault.foreign }
        for line in splitter.add(piece) { try add(line: line) }
    }

    /// What was found, once all pieces have come. The last line may lack its newline, and counts.
    mutating func report() async throws -> AuditReport {
        if let line = splitter.rest { try add(line: line) }
        return try await audit.report()
    }

    private mutating func add(line: [UInt8]) throws {
        guard listsChanges else { return try audit.add(line) }
        var written: [HistoryAudit.WrittenChange] = []
        try audit.add(line) { written.append($0) }
        StandardOutput.lines(written.flatMap { WrittenChangeText($0, by: audit.author(of: $0.dot.replica)).lines })
    }
}

extension InputFile {
    /// Nil when it is a job that is meant.
    fileprivate convenience init?(history reference: String) throws {
        guard reference == "-" || access(reference, F_OK) == 0 else { return nil }
        try self.init(path: reference)
    }
}

extension AuditReport {
    /// Whether it has all that a job is said to have, by the journal: who has written meanwhile is in it, too.
    func reaches(_ vector: [String: UInt64]) -> Bool {
        let ends = Dictionary(journals.map { ($0.replicaID, $0.lastSequence) }, uniquingKeysWith: { max($0, $1) })
        return vector.allSatisfy { ends[$0.key] ?? 0 >= $0.value }
    }

    fileprivate func print(on terminal: Terminal) {
        let style = terminal.style
        let signed = journals.filter { $0.standing == .signed || $0.standing == .proven }
        let count = signed.reduce(0) { $0 + $1.changes }
        var facts = Facts()
        facts.add("Job", job)
        facts.add("Exported", "\(Formats.exactTime(exportedAt)), as the file says")
        facts.add("Fleet", rootID ?? "none")
        facts.print(on: terminal)
        StandardOutput.lines([""])
        var table = Table([
            .text("LAPTOP"), .whole("ID"), .text("KEY WORDS"), .whole("ROLE"), .number("CHANGES"),
            .whole("FIRST").optional, .whole("LAST"),
        ])
        for journal in journals {
            table.add(
                Cell(journal.title), .id(journal.deviceID), Cell(journal.keyWords), Cell(journal.role),
                .count(journal.changes), .time(journal.firstAt), .time(journal.lastAt))
        }
        table.print(on: terminal)
        var lines = [""]
        for signature in signatures {
            lines.append("Signed by \(Text.plain(signature.name)) at \(Formats.exactTime(signature.at)), for")
            lines.append("  \(Text.plain(signature.digest))")
        }
        for journal in journals where journal.standing != .broken && !journal.people.isEmpty {
            let people = journal.people.map(Text.plain).joined(separator: ", ")
            lines += Text.wrapped("At \(journal.title), as that laptop says: \(people)", to: terminal.width)
        }
        for journal in journals {
            if let problem = journal.problem {
                lines.append("\(style.red("broken")): the journal of \(journal.title), \(problem)")
            } else if journal.standing == .outsider {
                lines.append("\(style.red("outsider")): \(journal.title), whom nobody of this fleet has let write")
            }
        }
        if holds, signed.isEmpty {
            lines.append("Nothing in it is signed by anybody.")
        } else if holds {
            let isProven = signed.allSatisfy { $0.standing == .proven }
            let word = style.green(isProven ? "proven" : "signed")
            lines.append("\(word): \(counted(count, "change")), each signed by its author.")
            if !isProven {
                lines.append("No fleet vouches for the laptops: only that each journal is one laptop's is shown.")
            }
        }
        StandardOutput.lines(lines)
    }
}

extension AuditReport.Journal {
    fileprivate var title: String {
        name.map(Text.plain) ?? deviceID.map { "laptop \(ShortIDs.random($0))" } ?? ShortIDs.random(replicaID)
    }
}
