import ArgumentParser
import Glibc
import HTTPCoding
import LocalAPI
import Systemd
import Usage

/// The command line: everything goes through the daemon's socket.
struct Muster: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "muster",
        abstract: "Keeps a crew's inventory the same on every laptop.",
        discussion: """
            JOB is a job's id, the beginning or end of one, or its exact name, of a living job before a removed one. ITEM \
            is an item's id, the beginning or end of one, or a barcode that one item has. Of an id four characters are \
            enough, and fewer name nothing. Every command takes --json for scripts; what is piped has tabs between its columns and nothing cut.

            Examples:
              muster job create --name "Smith, 12 Elm Street" --kind pickup
              muster item add "Smith, 12 Elm Street" category=sofa-3-seat room=Kitchen
              muster job watch "Smith, 12 Elm Street"
            """,
        version: MusterVersion.current,
        subcommands: [
            StatusCommand.self, SessionCommand.self, DoctorCommand.self, MetricsCommand.self,
            ReportCommand.self, PeersCommand.self,
            ClockCommand.self,
            JobCommand.self,
            ItemCommand.self, CatalogueCommand.self, ImportCommand.self, CarryCommand.self, QueueCommand.self,
            FleetCommand.self, BackupCommand.self, RestoreCommand.self, StoreCommand.self,
            CompletionsCommand.self,
        ])
}

@main
enum EntryPoint {
    static func main() async {
        OutputCheck.keepClosed()
        if let mistake = CommandNames.mistake(in: Array(CommandLine.arguments.dropFirst()), of: Muster.self) {
            StandardError.say(Text.plain(mistake))
            exit(SystemExit.usage.rawValue)
        }
        do {
            try await UsageEnding.runTyped(Muster.self)
        } catch let error as APIError {
            StandardError.say(Text.plain(error.message))
            exit(error.systemExit.rawValue)
        } catch let stop as Stop {
            exit(stop.code.rawValue)
        } catch {
            Ending.end(with: error)
        }
    }
}

/// Ends the program with a code after everything has been said.
struct Stop: Error {
    var code: SystemExit
}
