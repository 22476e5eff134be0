import ArgumentParser
import LocalAPI

struct JobExportCommand: AsyncParsableCommand {
    /// What is written of a job.
    enum Form: String, CaseIterable, ExpressibleByArgument {
        case json, csv, history, amendments
    }

    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print a job's items, or its whole history.",
        discussion: """
            Stores that are equal print equal bytes as json and csv. As history it is all that was ever written, with the \
            signatures of the laptops: 'muster job audit FILE' checks that, also years later and without a daemon. As \
            amendments it is what was changed since the customer signed.

            Example:
              muster job export "Smith, 12 Elm Street" --format csv > smith.csv
            """)

    @OptionGroup var job: JobArgument

    @Option(name: .long, help: "The form.")
    var format: Form = .json

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        // The others are JSON anyway.
        guard options.json, format == .csv else { return }
        throw ValidationError("--format csv is no JSON: leave one of --format and --json out.")
    }

    func run() async throws {
        try await options.withClient { client in
            let write: ([UInt8]) async throws -> Void = { StandardOutput.write($0) }
            switch format {
            case .json: try await client.export(job: job.reference, format: .json, write)
            case .csv: try await client.export(job: job.reference, format: .csv, write)
            case .history: try await client.history(job: job.reference, write)
            case .amendments: try StandardOutput.json(try await client.amendments(job: job.reference))
            }
        }
    }
}
