#if canImport(Glibc)
    import Glibc
#endif

/// Tells systemd how the daemon is (sd_notify(3)): a datagram to the socket that `NOTIFY_SOCKET` names.
///
/// Without systemd, or when it no longer listens, telling it does nothing.
struct ServiceManager: Sendable {
    private let path: String?
    /// How often systemd wants a sign of life, in milliseconds; nil when it does not.
    let watchdogMilliseconds: UInt64?

    init(environment: [String: String]) {
        path = environment["NOTIFY_SOCKET"]
        let isForThisProcess = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { UInt64($0) }
        watchdogMilliseconds = isForThisProcess ? microseconds.map { $0 / 1_000 } : nil
    }

    func ready(_ status: String) { tell("READY=1\nSTATUS=\(status)") }
    func status(_ status: String) { tell("STATUS=\(status)") }
    func stopping() { tell("STOPPING=1") }
    func alive() { tell("WATCHDOG=1") }

    private func tell(_ text: String) {
        guard let path, !path.isEmpty else { return }
        var address = sockaddr_un()
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: bytes)
            // A name that begins with @ is in the abstract namespace.
            if bytes.first == UInt8(ascii: "@") { target[0] = 0 }
        }
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
                text.withCString { sendto(socket, $0, strlen($0), Int32(MSG_NOSIGNAL), target, length) }
            }
        }
    }
}
