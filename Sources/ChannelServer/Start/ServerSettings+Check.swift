import FoundationEssentials
import Systemd

#if canImport(Glibc)
    import Glibc
#endif

/// What can be known of settings before anything is begun with them.
extension ServerSettings {
    /// Looks, without making anything, whether a server could serve with these.
    ///
    /// - Parameter current: those of the server that looks, which has its port itself; nil where none serves, or another process.
    /// - Throws: `StartProblem`.
    package func check(insteadOf current: ServerSettings? = nil) throws(StartProblem) {
        if let proxySocket {
            try Self.checkProxySocket(proxySocket)
            let directory = proxySocket.lastIndex(of: "/").map { String(proxySocket[...$0]) } ?? "."
            guard access(directory, W_OK | X_OK) == 0 else {
                throw Self.cannotMakeSocket(proxySocket, String(cString: strerror(errno)))
            }
        }
        guard let current, (host, port) != (current.host, current.port) else { return }
        if let reason = reasonNotToListen(besides: current.port) { throw cannotListen(reason) }
    }

    /// - Parameter own: the port that this process has.
    /// - Returns: what the system says to it; nil where it can be listened on.
    private func reasonNotToListen(besides own: Int) -> String? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &found)
        guard code == 0, let address = found?.pointee else { return String(cString: gai_strerror(code)) }
        defer { freeaddrinfo(found) }
        let socket = socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return String(cString: strerror(errno)) }
        defer { close(socket) }
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard bind(socket, address.ai_addr, address.ai_addrlen) != 0 else { return nil }
        return errno == EADDRINUSE && port == own ? nil : String(cString: strerror(errno))
    }

    func cannotListen(_ reason: String) -> StartProblem {
        StartProblem(
            .tryAgain, "Cannot listen on \(host):\(port) (\(reason)); choose another address with --listen.")
    }

    // MARK: The proxy's socket

    /// Where it is made before it gets its name.
    static func unnamed(_ path: String) -> String { path + "~" }

    static func checkProxySocket(_ path: String) throws(StartProblem) {
        guard unnamed(path).utf8.count <= 107 else {
            throw StartProblem(.usage, "The path of the proxy's socket is longer than 106 bytes; choose a shorter one.")
        }
        for place in [path, unnamed(path)] {
            let kind = (try? FileManager.default.attributesOfItem(atPath: place))?[.type] as? FileAttributeType
            guard !path.isEmpty, kind == nil || kind == .typeSocket else {
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
