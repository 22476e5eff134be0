import Replication
import Systemd

#if canImport(Glibc)
    import Glibc
#endif

/// What a server is told.
package struct ServerSettings: Hashable, Sendable {
    /// The TCP port that laptops connect to unless another is named.
    package static let defaultPort = 7480

    /// The name or address to listen on, IPv6 without brackets.
    package var host = "127.0.0.1"
    /// 0 takes any free one, which `onReady` of `ChannelServer` tells.
    package var port = Self.defaultPort
    /// The SQLite file; it and its directory are made if they are missing.
    package var databasePath: String
    /// It takes back from the laptops what it had said before it was set back, and says nothing new.
    package var isRecovering = false

    /// The path of a Unix socket on which a proxy passes on what laptops say to it, unencrypted; nil without one.
    package var proxySocket: String?

    /// - Parameters:
    ///   - listen: `HOST:PORT`, the host `*` for every address; nil for this machine only, at the usual port.
    ///   - place: where that was said.
    ///   - database: the file; nil for `channel.sqlite` in the state directory.
    /// - Throws: `StartProblem`.
    package init(
        listen: String?, from place: String = "--listen", database: String?, environment: [String: String]
    ) throws(StartProblem) {
        if let database {
            try Self.checkPath(database, "--database")
            databasePath = database
        } else {
            databasePath = try Self.stateDirectory(environment) + "/channel.sqlite"
        }
        guard let listen else { return }
        guard let address = PeerAddress(listen) else {
            throw StartProblem(
                .usage,
                "\(place): '\(listen)' is no address to listen on; write HOST:PORT, for example 127.0.0.1:7480 or [::1]:7480."
            )
        }
        host = address.host == PeerAddress.everyHost ? Self.everyHost : address.host
        port = address.port
    }

    static func checkPath(_ path: String, _ flag: String) throws(StartProblem) {
        guard !path.isEmpty else { throw StartProblem(.usage, "\(flag) is empty; name a path.") }
        if let objection = DirectoryPath.objection(to: path) { throw StartProblem(.usage, "\(flag): \(objection)") }
    }

    /// Every address: one socket takes both kinds (RFC 3493, section 3.7), where the machine has IPv6 and its resolver, which looks
    /// whether any address is of that kind, hands `::` out.
    private static var everyHost: String {
        var found: UnsafeMutablePointer<addrinfo>?
        defer { if let found { freeaddrinfo(found) } }
        let socket = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        if socket >= 0 { close(socket) }
        return socket >= 0 && getaddrinfo("::", nil, nil, &found) == 0 ? "::" : "0.0.0.0"
    }

    /// Where the Debian package keeps the database.
    private static let serviceDirectory = "/var/lib/muster-channel"

    /// What systemd gives (systemd.exec(5), StateDirectory=), else the user's own (XDG Base Directory Specification).
    private static func stateDirectory(_ environment: [String: String]) throws(StartProblem) -> String {
        if let given = environment["STATE_DIRECTORY"], let first = given.split(separator: ":").first {
            return String(first)
        }
        if geteuid() == 0, access(serviceDirectory, F_OK) == 0, getpwnam("muster-channel") != nil {
            // Files of root's in it would be none that the service may write.
            throw StartProblem(
                .notPermitted,
                "The database in \(serviceDirectory) is the service's; put before the command: sudo -u muster-channel env STATE_DIRECTORY=\(serviceDirectory)"
            )
        }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/muster-channel" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw StartProblem(
                .usage, "There is no home directory to keep the database in; name a file with --database.")
        }
        return home + "/.local/state/muster-channel"
    }
}
