import ArgumentParser
import LocalAPI

extension ExportFormat: ExpressibleByArgument {}

struct JobExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print a job's items in canonical form: equal stores print equal bytes.",
        discussion: "Example:\n  muster job export \"Smith, 12 Elm Street\" --format csv > smith.csv")

    @OptionGroup var job: JobArgument

    @Option(name: .long, help: "The form.")
    var format: ExportFormat = .json

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        // --json asks for the form that is the default anyway.
        let form = options.json ? .json : format
        try await options.withClient { client in
            try await client.export(job: job.reference, format: form) { StandardOutput.write($0) }
        }
    }
}
