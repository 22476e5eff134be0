import ArgumentParser
import LocalAPI
import Systemd

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the rows of a table to a job as items.",
        usage: """
            muster import <job> <file> [--key <column>] [--field <column=field> ...]
                          [--force] [--yes] [--json] [--socket <path>]
            """,
        discussion: """
            The file is CSV in UTF-8, with commas, semicolons or tabs between the cells, and may be packed by gzip. The \
            first line names the columns, and is cut by what leaves most names that are known. Each column fills the field of \
            its name, notes remarks, a line each. What 'muster job export --format csv' has written can be imported: the ids \
            in its columns id and replaces are no fields. With --key, a row whose key an \
            item already has updates that item. A bad row is named by its line and left out; the rest goes in, and the \
            exit code is 65. Values are checked as in 'muster item add'; --force takes them all.

            Whatever ends an import before its last row, be it Ctrl-C or a full disk, the same command goes on and adds nothing \
            twice. Without --key, another file with barcodes that the job has already is not taken, unless --yes says that \
            its rows are further items.

            Examples:
              muster import "Elm Street 4" house.csv --key barcode --field What=name
              muster import Depot stock.tsv.gz
            """)

    /// So many bad rows are shown to people.
    private static let mostShown = 20

    @OptionGroup var job: JobArgument

    @Argument(
        help: "A CSV or TSV file in UTF-8, packed by gzip or not; - for standard input.",
        completion: .file(extensions: ["csv", "tsv", "gz"]))
    var file: String

    @Option(name: .long, help: ArgumentHelp("The column that names an item, such as its barcode.", valueName: "column"))
    var key: String?

    @Option(
        name: .long, help: ArgumentHelp("Fill another field from a column.", valueName: "column=field"),
        transform: { text in
            guard let mapping = try? FieldFilter(parsing: text) else {
                throw ValidationError("\"\(text)\" has no '=': write COLUMN=FIELD, such as What=name.")
            }
            return FieldArgument(filter: mapping)
        })
    var field: [FieldArgument] = []

    @OptionGroup var forcing: ForceOption
    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let input = try InputFile(path: file)
        let table = TableReader(
            options: ColumnOptions(renamed: field.map(\.filter), key: key, isForced: forcing.force))
        let (report, failure) = try await options.withClient { client in
            var origin: FileOrigin?
            if key == nil {
                let job = try await client.job(job.reference).id
                let survey = try await ImportSurvey(of: input, table, job: job)
                try await confirm(survey, job, client)
                origin = survey.origin
            }
            let interruption = ImportInterruption()
            var importer = Importer(
                client: client, job: job.reference, table: table, origin: origin, interruption: interruption)
            return try await interruption.watch { try await importer.run(input) }
        }
        tell(report)
        report.amends?.warn()
        if options.json { try StandardOutput.json(report) } else { StandardOutput.say(report.sentence) }
        if let failure, let stopped = report.stopped {
            StandardError.say("line \(stopped.line) and what follows: \(Text.plain(stopped.reason))")
            StandardError.say(
                "The rows above line \(stopped.line) are in the job; the same command goes on from there, and adds nothing twice."
            )
            throw Stop(code: failure.systemExit)
        }
        if report.notTaken > 0 { throw Stop(code: .badData) }
    }

    /// Barcodes that the job has already would be there twice.
    private func confirm(_ survey: ImportSurvey, _ job: String, _ client: LocalClient) async throws {
        guard !confirmation.yes, let column = survey.barcodeColumn else { return }
        let count = try await survey.barcodesElsewhere(in: job, client)
        guard count > 0 else { return }
        let meaning =
            "Of the file's \(counted(survey.barcodeCount, "barcode")) the job has \(Formats.count(count)) already. With --key "
            + "\"\(column)\" these rows update those items; without it they become further items of the same barcodes."
        do {
            try confirmation.confirm(meaning, "Add them as further items?")
        } catch let error as APIError where error.code == .confirmationNeeded {
            // It is the file that does not fit.
            throw APIError(.invalidValue, error.message)
        }
    }

    /// What people have to know besides the counts.
    private func tell(_ report: ImportReport) {
        let shown = report.reasons.prefix(Self.mostShown)
        for (lines, reason) in shown { StandardError.say("\(ImportReport.places(lines)): \(Text.plain(reason))") }
        let more = report.notTaken - shown.reduce(0) { $0 + $1.lines.count }
        if more > 0 { StandardError.say("\(counted(more, "more row")) could not be taken.") }
        guard key == nil else { return }
        if report.unchanged > 0 {
            StandardError.say(
                "\(counted(report.unchanged, "row")) of this very file \(isOrAre(report.unchanged)) in the job already."
            )
        }
        if report.removed > 0 {
            StandardError.say(
                "\(counted(report.removed, "row")) \(isOrAre(report.removed)) not added again: what they were has been "
                    + "removed; 'muster item restore' brings it back.")
        }
        if report.notTaken > 0, report.taken > 0 {
            StandardError.say(
                "Import what you correct as a file of its own, or with --key: else the other rows are there twice.")
        }
    }

    private func isOrAre(_ count: Int) -> String { count == 1 ? "is" : "are" }
}
