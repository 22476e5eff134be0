import ArgumentParser
import ChannelServer
import Logging
import Systemd

/// What flags, a file and the environment say together.
struct ServeSettings: Equatable {
    /// Where laptops connect.
    private static let listen = "MUSTER_CHANNEL_LISTEN"
    /// Further flags, which count as if they stood at the end of the command line.
    private static let flags = "MUSTER_CHANNEL_FLAGS"

    let server: ServerSettings
    let logLevel: Logger.Level

    /// - Parameters:
    ///   - file: the one that the flags name.
    ///   - environment: the process's; the file wins over it, flags over both.
    /// - Throws: `ValidationError` or `StartProblem`, a sentence each.
    init(_ serve: Serve, _ file: EnvironmentFile?, environment: [String: String]) throws {
        let given = file?.variables ?? [:]
        let place = serve.environmentFile ?? ""
        for name in given.keys.sorted() where name.hasPrefix("MUSTER_") && ![Self.listen, Self.flags].contains(name) {
            throw ValidationError(
                "There is no setting \(name) in \(place); known are \(Self.listen) and \(Self.flags).")
        }
        let variables = environment.merging(given) { $1 }
        let more = try Self.flags(in: variables)
        let flag = more?.listen ?? serve.listen
        var server = try ServerSettings(
            listen: flag ?? variables[Self.listen],
            from: flag != nil ? "--listen" : Self.listen + (given[Self.listen] == nil ? "" : " in \(place)"),
            database: more?.database.database ?? serve.database.database, environment: environment)
        server.proxySocket = more?.proxySocket ?? serve.proxySocket
        server.isRecovering = serve.recover || more?.recover ?? false
        self.server = server
        let level = more?.logLevel ?? serve.logLevel ?? Logger.Level.info.rawValue
        guard let logLevel = Logger.Level(rawValue: level) else {
            throw ValidationError("'\(level)' is no log level.")
        }
        self.logLevel = logLevel
    }

    private static func flags(in variables: [String: String]) throws -> Serve? {
        guard let text = variables[flags] else { return nil }
        let more: Serve
        do { more = try Serve.parse(text.split(separator: " ").map { String($0) }) } catch {
            throw ValidationError("\(flags) cannot be read: \(Serve.message(for: error))")
        }
        guard more.environmentFile == nil, !more.checkConfig else {
            throw ValidationError(
                "\(flags) may not have --environment-file or --check-config; give them on the command line.")
        }
        return more
    }

    /// What is in force, by the names of the flags; what is not set is left out.
    var shown: [(name: String, value: String)] {
        let host = server.host.contains(":") ? "[\(server.host)]" : server.host
        var shown = [("listen", "\(host):\(server.port)"), ("database", server.databasePath)]
        if let path = server.proxySocket { shown.append(("proxy-socket", path)) }
        return shown + [("recover", "\(server.isRecovering)"), ("log-level", logLevel.rawValue)]
    }
}
