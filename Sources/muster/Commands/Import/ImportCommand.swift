import ArgumentParser
import LocalAPI

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the rows of a CSV file to a job as items.",
        usage: """
            muster import <job> <file> [--key <column>] [--field <column=field> ...]
                          [--json] [--socket <path>]
            """,
        discussion: """
            The first line names the columns; each column fills the field of its name, notes a remark. With --key, a row whose key an \
            item already has updates that item. A bad row is named by its line and left out; the rest goes in, and the \
            exit code is 65. What ends an import before its last row, such as a full disk, is told with the line where \
            it stopped: the rows above it are in the job.

            Example:
              muster import "Smith, 12 Elm Street" house.csv --key barcode --field What=name
            """)

    @OptionGroup var job: JobArgument

    @Argument(help: "A CSV file in UTF-8; - for standard input.", completion: .file(extensions: ["csv"]))
    var file: String

    @Option(name: .long, help: ArgumentHelp("The column that names an item, such as its barcode.", valueName: "column"))
    var key: String?

    @Option(name: .long, help: ArgumentHelp("Fill another field from a column.", valueName: "column=field"))
    var field: [FieldArgument] = []

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let input = try InputFile(path: file)
        let (report, failure) = try await options.withClient { client in
            var importer = Importer(client: client, job: job.reference, key: key, renamed: field.map(\.filter))
            return try await importer.run(input)
        }
        for row in report.rejected.sorted(by: { $0.line < $1.line }) {
            StandardError.write("muster: line \(row.line): \(Text.plain(row.reason))\n")
        }
        if options.json { try StandardOutput.json(report) } else { StandardOutput.write(report.sentence + "\n") }
        if let failure, let stopped = report.stopped {
            StandardError.write(
                """
                muster: line \(stopped.line) and what follows: \(Text.plain(stopped.reason))
                muster: The rows above line \(stopped.line) are in the job; import the rest, or the whole file with --key, \
                which adds nothing twice.

                """)
            throw Stop(code: failure.systemExit)
        }
        if !report.rejected.isEmpty { throw Stop(code: .badData) }
    }
}
