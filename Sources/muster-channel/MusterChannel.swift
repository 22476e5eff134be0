import ArgumentParser
import ChannelServer
import HTTPCoding
import Logging
import Reloading
import Systemd
import UnixSignals
import Usage

#if canImport(Glibc)
    import Glibc
#endif

/// The server's command line.
@main
struct MusterChannel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "muster-channel",
        abstract: "The company's end of Muster: keeps the channel of every job, and tells laptops the time.",
        discussion: """
            Without arguments it serves on 127.0.0.1:7480 from channel.sqlite in $STATE_DIRECTORY, or else in \
            ~/.local/state/muster-channel. Let it into the company's fleet first ('muster-channel fleet --help'): it speaks \
            TLS with members of that fleet, and with nobody else.

            'muster-channel backup FILE' copies the database while the server runs. After such a copy was put back, serve \
            with --recover first: laptops bring what the server has said since.

            Example: muster-channel --listen 0.0.0.0:7480
            """,
        version: MusterVersion.current,
        subcommands: [Serve.self, Fleet.self, BackupCommand.self], defaultSubcommand: Serve.self)

    static func main() async {
        OutputCheck.begin()
        await UsageEnding.run(Self.self)
    }
}

/// Where the database lies, for every command.
struct DatabaseOption: ParsableArguments {
    @Option(help: ArgumentHelp("The database file, made if it is missing.", valueName: "path"))
    var database: String?
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve until told to stop (the default).",
        discussion: """
            On SIGTERM it answers whoever waits, finishes what it has begun, and ends. On SIGHUP, where systemd watches it, it \
            reads its settings anew: wrong ones change nothing, with others it begins anew in the same process.

            After the database was put back from a backup, serve with --recover until the laptops have come by: they know \
            what the server has said since, and bring it back. Meanwhile nothing is decided. Then start it as usual.

            Example: muster-channel --listen 0.0.0.0:7480 --database /srv/channel.sqlite
            """)

    @Option(help: ArgumentHelp("Where laptops connect (default: 127.0.0.1:7480).", valueName: "host:port"))
    var listen: String?

    @OptionGroup var database: DatabaseOption

    @Option(
        help: ArgumentHelp(
            "A Unix socket on which a proxy passes on what laptops say (docs/server.md).", valueName: "path"))
    var proxySocket: String?

    @Option(
        help: ArgumentHelp(
            "A file with MUSTER_CHANNEL_LISTEN and further flags in MUSTER_CHANNEL_FLAGS; read anew on SIGHUP, where systemd watches it.",
            valueName: "file"))
    var environmentFile: String?

    @Flag(help: "Only say whether the settings can be used, and what they are.")
    var checkConfig = false

    @Flag(help: "Take back from the laptops what was said after the backup, and decide nothing meanwhile.")
    var recover = false

    @Option(
        help: ArgumentHelp(
            "trace, debug, info, notice, warning, error or critical (default: info).", valueName: "level"))
    var logLevel: String?

    func run() async throws {
        await Failure.exits {
            let environment = ProgramStart.environment
            let file = try environmentFile.map { path in try EnvironmentFile(path: path) }
            let settings = try ServeSettings(self, file, environment: environment)
            try settings.server.check()
            guard !checkConfig else {
                for (name, value) in settings.shown { print("\(name)\t\(value)") }
                return
            }
            LoggingSystem.bootstrap { SystemLog.handler(of: $0, environment: environment) }
            var logger = Logger(label: "muster-channel")
            logger.logLevel = settings.logLevel
            let manager = ServiceManager(environment: environment)
            let reload = ReloadService(manager: manager, logger: logger) {
                let now = try ServeSettings(self, try file?.again(), environment: environment)
                guard now != settings else { return false }
                try now.server.check(insteadOf: settings.server)
                return true
            }
            try await ChannelServer(settings: settings.server, logger: logger, manager: manager, reload: reload).run(
                stoppingOn: [.sigterm, .sigint])
            if reload.wantsStart { try ProgramStart.again() }
        }
    }
}

/// What went wrong, in one sentence on standard error, with an exit code of sysexits.h.
enum Failure {
    static func exits(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch let problem as StartProblem {
            end(problem.sentence, problem.kind)
        } catch let error as ValidationError {
            end(error.message, .usage)
        } catch let fault as EnvironmentFile.Fault {
            end(fault.description, .usage)
        } catch let fault as RestartFault {
            end(fault.description, .tryAgain)
        } catch {
            end("It failed: \(error)", .software)
        }
    }

    /// Says something to whoever waits.
    static func tell(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }

    private static func end(_ sentence: String, _ code: SystemExit) {
        tell("muster-channel: \(sentence)")
        exit(code.rawValue)
    }
}
