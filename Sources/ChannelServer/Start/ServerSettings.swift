import Systemd

#if canImport(Glibc)
    import Glibc
#endif

/// What a server is told.
package struct ServerSettings: Sendable {
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
    ///   - database: the file; nil for `channel.sqlite` in the state directory.
    /// - Throws: `StartProblem`.
    package init(
        listen: String?, database: String?, environment: [String: String]
    ) throws(StartProblem) {
        if let database {
            databasePath = database
        } else {
            databasePath = try Self.stateDirectory(environment) + "/channel.sqlite"
        }
        guard let listen else { return }
        // An IPv6 address stands in brackets.
        let parts = listen.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 2, let last = parts.last, let port = UInt16(last) else {
            throw StartProblem(
                .usage, "'\(listen)' is no address to listen on; write HOST:PORT, for example 127.0.0.1:7480.")
        }
        var host = String(listen.dropLast(last.utf8.count + 1))
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !host.isEmpty, !host.contains(":") || listen.hasPrefix("[") else {
            throw StartProblem(
                .usage, "'\(listen)' names no host; write HOST:PORT, for example 0.0.0.0:7480 or [::1]:7480.")
        }
        self.host = host == "*" ? Self.everyHost : host
        self.port = Int(port)
    }

    /// Every address: where the machine has IPv6, one socket takes both kinds (RFC 3493, section 3.7).
    private static var everyHost: String {
        let socket = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return "0.0.0.0" }
        defer { close(socket) }
        var any = sockaddr_in6()
        any.sin6_family = sa_family_t(AF_INET6)
        let isThere = withUnsafePointer(to: &any) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
        return isThere ? "::" : "0.0.0.0"
    }

    /// What systemd gives (systemd.exec(5), StateDirectory=), else the user's own (XDG Base Directory Specification).
    private static func stateDirectory(_ environment: [String: String]) throws(StartProblem) -> String {
        if let given = environment["STATE_DIRECTORY"], let first = given.split(separator: ":").first {
            return String(first)
        }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/muster-channel" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw StartProblem(
                .usage, "There is no home directory to keep the database in; name a file with --database.")
        }
        return home + "/.local/state/muster-channel"
    }
}
