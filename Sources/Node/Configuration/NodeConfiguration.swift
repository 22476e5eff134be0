import Configuration
import FoundationEssentials
package import LocalAPI
package import LocalAPIServer
package import Logging
package import Replication
package import ServerChannel
import Systemd
import Transport

/// What a daemon is told: by flags, else by the environment (`MUSTER_…`), else by the file, else by default.
package struct NodeConfiguration: Sendable {
    /// The TCP port that other laptops connect to unless `listen` names another.
    package static let defaultPort = 7473

    /// Where the store lies; made with mode 0700 if it is missing, and so are its parents.
    package var stateDirectory: String
    /// The path of the local API's Unix socket.
    package var socket: String
    /// Whose members may use it, besides the daemon's user and root; nil for the daemon's own group.
    package var socketGroup: String?
    /// The path of a second one, for who may only look; there is none without it.
    package var readerSocket: String?
    /// The same of that one.
    package var readerGroup: String?
    /// Where other laptops of the fleet connect.
    package var listen = PeerAddress(host: TransportConfiguration.everyHost, port: Self.defaultPort)
    /// Nobody has said where: a laptop that belongs to no fleet has nobody to let in, and listens nowhere.
    package var waitsForFleet = true
    /// Laptops to connect to besides those that are discovered.
    package var peers: [PeerAddress] = []
    /// The company's server; without one a laptop has the time from other laptops only.
    package var server: ServerAddress?
    /// How often the server is asked for news, in seconds.
    package var serverInterval = 15
    /// Whether this laptop is announced, and others are looked for, with DNS-SD.
    package var usesDiscovery = true
    /// What people see this laptop as, cut to 128 bytes; nil for the host's own name.
    package var hostName: String?
    /// Where Prometheus may ask for figures; nil for nowhere.
    package var metrics: MetricsAddress?
    /// What the log is to tell.
    package var logLevel = Logger.Level.info

    /// The defaults: to be reached by its fleet once it belongs to one, with discovery, without a server.
    ///
    /// - Parameter directories: where it keeps what it has.
    package init(in directories: UsualDirectories = .system) {
        stateDirectory = directories.state
        socket = directories.socket
    }

    /// The names under which all three sources know the settings.
    package enum Key: String, CaseIterable {
        case stateDirectory = "state-dir"
        case socket
        case socketGroup = "socket-group"
        case readerSocket = "reader-socket"
        case readerGroup = "reader-group"
        case listen
        case peers
        case server
        case serverInterval = "server-interval"
        case discovery
        case hostName = "host-name"
        case metrics
        case logLevel = "log-level"
    }

    /// Reads all sources.
    ///
    /// - Parameters:
    ///   - flags: what the command line gave; `peers` may have several values.
    ///   - isRoot: whether the daemon runs as root, or as a service: else its directories are the user's own.
    ///   - file: a JSON file such as `{"listen": "127.0.0.1:7473", "peers": ["10.0.0.2:7473"]}`.
    /// - Throws: `ConfigurationError`.
    package static func read(
        flags: [Key: [String]], environment: [String: String], file: String?, isRoot: Bool = true
    ) async throws -> NodeConfiguration {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, given) in flags {
            let content: ConfigContent =
                switch key {
                case .peers: .stringArray(given)
                case .discovery: .bool(given.first == "true")
                default: .string(given.first ?? "")
                }
            values[key.absolute] = ConfigValue(content, isSecret: false)
        }
        try SettingsCheck.check(environment: environment)
        var providers: [any ConfigProvider] = [InMemoryProvider(name: "flags", values: values)]
        let prefixed = environment.filter { $0.key.hasPrefix("MUSTER_") }
            .map { (String($0.key.dropFirst("MUSTER_".count)), $0.value) }
        providers.append(
            EnvironmentVariablesProvider(
                environmentVariables: Dictionary(prefixed, uniquingKeysWith: { first, _ in first })))
        if let file {
            if let objection = DirectoryPath.objection(to: file) { throw ConfigurationError("--config: \(objection)") }
            guard let bytes = FileManager.default.contents(atPath: file) else {
                throw ConfigurationError(
                    "The configuration file \(file) cannot be read; check its name, and whether you may.")
            }
            let settings = try SettingsCheck.settings(in: bytes, named: file)
            providers.append(InMemoryProvider(name: "file", values: settings))
        }
        let directories = UsualDirectories(environment: environment, isRoot: isRoot)
        let places = SettingPlaces(flags: Set(flags.keys), environment: environment, file: file)
        return try NodeConfiguration(ConfigReader(providers: providers), in: directories, places)
    }

    private init(
        _ reader: ConfigReader, in directories: UsualDirectories, _ places: SettingPlaces
    ) throws(ConfigurationError) {
        self.init(in: directories)
        for key in Key.allCases where key.kind == .text && reader.string(forKey: key.key) == "" {
            throw ConfigurationError("\(places[key]) is empty; leave it out if the default is meant.")
        }
        for key in Key.allCases where key.isPath {
            guard let objection = reader.string(forKey: key.key).flatMap(DirectoryPath.objection) else { continue }
            throw ConfigurationError("\(places[key]): \(objection)")
        }
        stateDirectory = reader.string(forKey: Key.stateDirectory.key, default: stateDirectory)
        socket = reader.string(forKey: Key.socket.key, default: socket)
        socketGroup = reader.string(forKey: Key.socketGroup.key)
        readerSocket = reader.string(forKey: Key.readerSocket.key)
        readerGroup = reader.string(forKey: Key.readerGroup.key)
        guard readingSocket?.isSame(as: ownSocket) != true else {
            throw ConfigurationError(
                "\(places[.readerSocket]): \(socket) cannot be both sockets; name another path for one of them.")
        }
        guard readerGroup == nil || readerSocket != nil else {
            throw ConfigurationError(
                "\(places[.readerGroup]) is of no use without a second socket; name its path as reader-socket.")
        }
        usesDiscovery = reader.bool(forKey: Key.discovery.key, default: usesDiscovery)
        hostName = reader.string(forKey: Key.hostName.key)
        if let hostName, hostName.unicodeScalars.contains(where: Self.breaksLines) {
            throw ConfigurationError(
                "\(places[.hostName]) has a line end or a control character in it; write a name in one line.")
        }
        if let text = reader.string(forKey: Key.logLevel.key) {
            guard let level = Logger.Level(rawValue: text) else {
                let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                throw ConfigurationError("\(places[.logLevel]): '\(text)' is no log level; use one of \(levels).")
            }
            logLevel = level
        }
        if let text = reader.string(forKey: Key.listen.key) {
            listen = try Self.address(text, key: .listen, places)
            waitsForFleet = false
        }
        for text in reader.stringArray(forKey: Key.peers.key, default: []) {
            peers.append(try Self.address(text, key: .peers, places))
        }
        if let text = reader.string(forKey: Key.server.key) {
            guard let address = ServerAddress(text) else {
                throw ConfigurationError(
                    "\(places[.server]): '\(text)' is no server; write its address like https://muster.example:7480.")
            }
            guard address.isEncrypted else {
                throw ConfigurationError(
                    "\(places[.server]): the server speaks TLS only; write https:// instead of http:// in '\(text)'.")
            }
            server = address
        }
        if let text = reader.string(forKey: Key.metrics.key) { metrics = try Self.metrics(text, places) }
        let interval = Key.serverInterval.key
        if let text = reader.string(forKey: interval) ?? reader.int(forKey: interval).map({ String($0) }) {
            guard let seconds = Int(text), (1...86_400).contains(seconds) else {
                throw ConfigurationError(
                    "\(places[.serverInterval]): '\(text)' is no interval; write a number of seconds from 1 to 86400.")
            }
            serverInterval = seconds
        }
    }

    /// What is in force, by the names of the settings; what is not set is left out.
    package var settings: [(name: String, value: String)] {
        Key.allCases.compactMap { key in text(of: key).map { (key.rawValue, $0) } }
    }

    private func text(of key: Key) -> String? {
        switch key {
        case .stateDirectory: stateDirectory
        case .socket: socket
        case .socketGroup: socketGroup
        case .readerSocket: readerSocket
        case .readerGroup: readerGroup
        case .listen: "\(listen)"
        case .peers: peers.isEmpty ? nil : peers.map { "\($0)" }.joined(separator: ",")
        case .server: server.map { "\($0)" }
        case .serverInterval: "\(serverInterval)"
        case .discovery: "\(usesDiscovery)"
        case .hostName: hostName
        case .metrics: metrics.map { "\($0)" }
        case .logLevel: logLevel.rawValue
        }
    }

    /// Nobody but this machine can connect.
    package var isLoopbackOnly: Bool { Loopback.holds(listen.host) }

    /// The one that does all.
    var ownSocket: LocalSocket {
        // Without XDG_RUNTIME_DIR it lies with the store, whose directory is made with its parents, too.
        LocalSocket(path: socket, group: socketGroup, makesParents: socket.hasPrefix(stateDirectory + "/"))
    }

    /// The one on which people may only look, if there is one.
    var readingSocket: LocalSocket? {
        readerSocket.map { LocalSocket(path: $0, group: readerGroup, access: .looking) }
    }

    /// A port alone is this machine's: who wants others to read the figures writes down where.
    private static func metrics(_ text: String, _ places: SettingPlaces) throws(ConfigurationError) -> MetricsAddress {
        let port = UInt16(text.hasPrefix(":") ? text.dropFirst() : text[...]).map { Int($0) }
        let address = port.map { PeerAddress(host: MetricsAddress.thisMachine, port: $0) } ?? PeerAddress(text)
        guard let address, address.port > 0 else {
            throw ConfigurationError(
                "\(places[.metrics]): '\(text)' is nowhere to listen; write a port, for example 9473, or HOST:PORT.")
        }
        return MetricsAddress(host: address.host, port: address.port)
    }

    private static func breaksLines(_ scalar: Unicode.Scalar) -> Bool {
        [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    private static func address(
        _ text: String, key: Key, _ places: SettingPlaces
    ) throws(ConfigurationError) -> PeerAddress {
        // Port 0 is any free one, which nobody else can name, and every address of another laptop is none.
        guard let address = PeerAddress(text),
            key == .listen || address.port > 0 && address.host != PeerAddress.everyHost
        else {
            throw ConfigurationError(
                "\(places[key]): '\(text)' is no address; write HOST:PORT, for example 192.168.1.20:\(defaultPort)."
            )
        }
        return address
    }
}

extension NodeConfiguration.Key {
    var key: ConfigKey { ConfigKey([rawValue]) }
    /// The same, as providers have it.
    var absolute: AbsoluteConfigKey { AbsoluteConfigKey([rawValue]) }
}

/// A setting that cannot be used: one sentence with the remedy.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    package let description: String

    /// Takes the whole sentence, as people read it.
    package init(_ description: String) {
        self.description = description
    }
}
