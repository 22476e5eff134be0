import ArgumentParser
import ChannelServer
import Systemd

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the database into a new file; the server may run meanwhile.",
        discussion: """
            The copy is one state of the database, whole and on the disk when the command ends, and closed to others. A \
            copy made with cp while the server runs is none. To use it, stop the server, put the copy in the place of the \
            database, remove what stands beside that (-wal, -shm), and serve with --recover until the laptops have come by.

            Example: muster-channel backup /srv/backups/channel-$(date +%F).sqlite
            """)

    @Argument(help: "A file that does not exist yet.")
    var file: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        await Failure.exits {
            guard !file.isEmpty else { throw ValidationError("Name the file to write the backup to.") }
            let settings = try ServerSettings(
                listen: nil, database: database.database, environment: ProgramStart.environment)
            try Backup.write(of: settings.databasePath, to: file)
        }
    }
}
