import FoundationEssentials
import Systemd

#if canImport(Glibc)
    import Glibc
#endif

/// What can be known of settings before anything is begun with them.
extension ServerSettings {
    /// Looks, without making anything, whether a server could serve with these.
    ///
    /// - Parameter current: those of the server that looks, in this process, which are to give way; nil where there is none.
    /// - Throws: `StartProblem`.
    package func check(insteadOf current: ServerSettings? = nil) throws(StartProblem) {
        if let current, databasePath != current.databasePath {
            throw StartProblem(
                .usage,
                "A reload keeps the database \(current.databasePath); restart the server to serve from \(databasePath)."
            )
        }
        try DatabaseFile.check(databasePath)
        if let proxySocket {
            try Self.checkProxySocket(proxySocket)
            // Its directory is not made.
            let failure = DirectoryPath(DirectoryPath.parent(of: proxySocket)).failure(making: 0)
            guard failure == 0 else { throw Self.cannotMakeSocket(proxySocket, String(cString: strerror(failure))) }
        }
        guard let current, (host, port) != (current.host, current.port) else { return }
        if let reason = ListenCheck.objection(to: host, port: port) { throw cannotListen(reason) }
    }

    func cannotListen(_ reason: String) -> StartProblem {
        StartProblem(
            .tryAgain, "Cannot listen on \(host):\(port) (\(reason)); choose another address with --listen.")
    }

    // MARK: The proxy's socket

    /// Where it is made before it gets its name.
    static func unnamed(_ path: String) -> String { path + "~" }

    static func checkProxySocket(_ path: String) throws(StartProblem) {
        try checkPath(path, "--proxy-socket")
        guard unnamed(path).utf8.count <= 107 else {
            throw StartProblem(.usage, "The path of the proxy's socket is longer than 106 bytes; choose a shorter one.")
        }
        for place in [path, unnamed(path)] {
            let kind = (try? FileManager.default.attributesOfItem(atPath: place))?[.type] as? FileAttributeType
            guard kind == nil || kind == .typeSocket else {
                throw StartProblem(
                    .usage, "'\(place)' is no socket; remove it, or name another place with --proxy-socket.")
            }
        }
    }

    static func cannotMakeSocket(_ path: String, _ reason: String) -> StartProblem {
        StartProblem(
            .notPermitted,
            "The proxy's socket \(path) cannot be made (\(reason)); make its directory, or name another with --proxy-socket."
        )
    }
}
