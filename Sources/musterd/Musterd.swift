import ArgumentParser
import HTTPCoding
import Logging
import Node
import Systemd
import Usage

#if canImport(Glibc)
    import Glibc
#endif

/// What says where the store lies, for every command.
struct PlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A JSON file with the same settings, as in {\"listen\": \"127.0.0.1:7473\"}.", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Where the store lies (default: /var/lib/muster; without root ~/.local/state/muster).",
            valueName: "directory"))
    var stateDir: String?
}

/// The daemon's command line.
@main
struct Musterd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "musterd",
        abstract: "Keeps a crew's inventory the same on every laptop.",
        discussion: """
            Finds the other laptops with DNS-SD, exchanges changes with them over TCP, and answers the muster command on \
            a Unix socket. Flags win over the environment (MUSTER_STATE_DIR, MUSTER_LISTEN …), that over the file.

            docs/configuration.md tells what each setting means.

            Example: musterd --server https://muster.example:7480
            """,
        version: MusterVersion.current, subcommands: [RollbackCommand.self])

    static func main() async {
        OutputCheck.begin()
        await UsageEnding.run(Self.self)
    }

    @OptionGroup var place: PlaceOptions

    @Option(
        help: ArgumentHelp(
            "A file of the same variables, which win over the environment; read anew on SIGHUP, as --config is, where systemd watches it.",
            valueName: "file"))
    var environmentFile: String?

    @Flag(help: "Only say whether the settings can be used, and what they are.")
    var checkConfig = false

    @Option(
        help: ArgumentHelp(
            "The Unix socket of the local API (default: /run/muster/muster.sock; without root in XDG_RUNTIME_DIR).",
            valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The group whose members may use the socket (default: the daemon's own group).", valueName: "name"))
    var socketGroup: String?

    @Option(
        help: ArgumentHelp(
            "A second socket, for those who may look and change nothing (default: none).", valueName: "path"))
    var readerSocket: String?

    @Option(
        help: ArgumentHelp(
            "The group whose members may use that one (default: the daemon's own group).", valueName: "name"))
    var readerGroup: String?

    @Option(
        help: ArgumentHelp(
            "Where other laptops connect (default: at every address, port 7473, once this laptop is in a fleet).",
            valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp("A laptop to connect to, besides those discovered; may be repeated.", valueName: "host:port")
    )
    var peer: [String] = []

    @Option(
        help: ArgumentHelp(
            "The company's server, which tells the time and keeps what the crew has (default: none).", valueName: "url")
    )
    var server: String?

    @Option(
        help: ArgumentHelp("How often the server is asked for news, in seconds (default: 15).", valueName: "seconds"))
    var serverInterval: Int?

    @Flag(help: "Neither announce this laptop nor look for others.")
    var noDiscovery = false

    @Option(help: ArgumentHelp("What other people see this laptop as (default: the host's name).", valueName: "name"))
    var hostName: String?

    @Option(
        help: ArgumentHelp(
            "Where Prometheus may ask for figures; a port alone is open to this machine (default: nowhere).",
            valueName: "host:port"))
    var metrics: String?

    @Option(
        help: ArgumentHelp(
            "trace, debug, info, notice, warning, error or critical (default: info).", valueName: "level"))
    var logLevel: String?

    func run() async throws {
        try await Start.orOneSentence {
            let environment = ProgramStart.environment
            let file = try environmentFile.map { path in try EnvironmentFile(path: path) }
            let configuration = try await settings(file)
            guard !checkConfig else {
                for (name, value) in configuration.settings { print("\(name)\t\(value)") }
                return
            }
            let recentLog = RecentLog()
            LoggingSystem.bootstrap {
                RecentLogHandler(SystemLog.handler(of: $0, environment: environment), keepingIn: recentLog)
            }
            var logger = Logger(label: "musterd")
            logger.logLevel = configuration.logLevel
            let node = Node(
                configuration: configuration, environment: environment, logger: logger, recentLog: recentLog
            ) {
                let now = try await settings(file?.again())
                return try now.differs(from: configuration)
            }
            switch try await node.run() {
            case .stopped: leave()
            case .reloads: try ProgramStart.again()
            }
        }
    }

    /// What flags and files say by now.
    private func settings(_ file: EnvironmentFile?) async throws -> NodeConfiguration {
        let variables = file?.variables ?? [:]
        if let environmentFile { try NodeConfiguration.check(variables: variables, of: environmentFile) }
        let configuration = try await NodeConfiguration.read(
            flags: flags, environment: ProgramStart.environment.merging(variables) { $1 }, file: place.config,
            isRoot: geteuid() == 0)
        try configuration.checkPlaces()
        return configuration
    }

    /// Ends the process at once: everything is durable, and the handlers that exit(3) runs would take down what the threads
    /// of event loops and queues still stand on. (One stop among some thousands had ended with SIGSEGV.)
    private func leave() -> Never {
        fflush(nil)
        _exit(EXIT_SUCCESS)
    }

    private var flags: [NodeConfiguration.Key: [String]] {
        var flags: [NodeConfiguration.Key: [String]] = [:]
        let single: [(NodeConfiguration.Key, String?)] = [
            (.stateDirectory, place.stateDir), (.socket, socket), (.listen, listen), (.server, server),
            (.socketGroup, socketGroup), (.readerSocket, readerSocket), (.readerGroup, readerGroup),
            (.serverInterval, serverInterval.map { String($0) }),
            (.hostName, hostName), (.metrics, metrics), (.logLevel, logLevel),
        ]
        for case (let key, let value?) in single { flags[key] = [value] }
        if !peer.isEmpty { flags[.peers] = peer }
        if noDiscovery { flags[.discovery] = ["false"] }
        return flags
    }
}
