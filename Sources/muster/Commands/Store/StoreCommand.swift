import ArgumentParser
import Glibc
import LocalAPI
import Systemd

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Look after this laptop's store while its daemon is stopped.",
        discussion: "Example:\n  muster store rollback",
        subcommands: [StoreRollbackCommand.self])
}

struct StoreRollbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Go back to the store of before the last upgrade.",
        usage: "muster store rollback [--state-dir <directory>] [--yes] [--json]",
        discussion: """
            A newer version copies the store before it upgrades it; an older version cannot read the upgraded one. \
            This puts the copy back. It says first what was written since, and asks. The newer store is kept beside \
            the other one, and what other laptops hold comes back from them. Stop the daemon before, install the \
            version that is wanted, and start it afterwards. The machine's store takes sudo.

            Example:
              muster store rollback
            """)

    @Option(
        help: ArgumentHelp(
            "Where the store lies (default: as for the daemon).", valueName: "directory"))
    var stateDir: String?

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var options: GlobalOptions

    /// The daemon's program takes this one's place: it has the database, and this command stays small without.
    func run() throws {
        var arguments = ["musterd", "rollback"]
        if let stateDir { arguments += ["--state-dir", stateDir] }
        if confirmation.yes { arguments.append("--yes") }
        if options.json { arguments.append("--json") }
        let program = Self.directory + "/musterd"
        let failure = ProgramStart.become(program, arguments)
        throw APIError(
            .unavailable, "\(program) cannot be started (\(String(cString: strerror(failure))))",
            remedy: "install the package muster again")
    }

    /// Where this program lies; the daemon's is beside it.
    private static var directory: String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "/usr/bin"
    }
}
