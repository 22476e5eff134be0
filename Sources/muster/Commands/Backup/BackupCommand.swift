import ArgumentParser
import LocalAPI

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a copy of all jobs to a file, while the daemon runs.",
        discussion: """
            One state of the daemon's store: every job with its whole history, and what waits for the server. The laptop's \
            key is not in it, so the file lets nobody in; customers' addresses are, so it is readable to you alone. It \
            has its name when it is whole and on the disk. 'muster restore FILE' brings it in, here or on another laptop \
            of the fleet.

            Example:
              muster backup /media/stick/monday.backup
            """)

    @Argument(help: "The file to write.", completion: .file())
    var file: String

    @Flag(help: "Replace a file of that name.")
    var force = false

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        if !force { try WholeFile.checkName(file, remedy: "name another file, or replace it with --force.") }
        let progress = ProgressBar()
        var bytes = 0
        try await WholeFile.watched(path: file, isReplacing: force) { output in
            defer { progress.clear() }
            try await options.withPatientClient { client in
                try await client.backup { piece, size in
                    try output.write(piece)
                    bytes += piece.count
                    progress.show(bytes, of: size, Formats.bytes(bytes))
                }
            }
            try output.publish()
        }
        if options.json {
            try StandardOutput.json(Written(file: file, bytes: bytes))
        } else {
            let size = Formats.decimal(Double(bytes) / 1_000_000)
            StandardOutput.say(
                "Wrote all jobs to \(Text.plain(file)) (\(size) MB). It is the customers' data: keep it safe.")
        }
    }

    private struct Written: Encodable {
        let file: String
        let bytes: Int
    }
}
