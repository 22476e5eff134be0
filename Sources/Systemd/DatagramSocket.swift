#if canImport(Glibc)
    import Glibc
#endif

/// Where datagrams go to on this machine; each is sent from a socket of its own, so that nothing is held meanwhile.
struct DatagramSocket: Sendable {
    private let path: [UInt8]

    /// - Parameter path: of a file, or with `@` before it a name in the abstract namespace; nil for what is too long or empty.
    init?(path: String) {
        guard !path.isEmpty, path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
        self.path = Array(path.utf8)
    }

    /// - Parameter waits: for room where whoever reads has not kept up.
    /// - Returns: whether the whole was taken.
    func send(_ bytes: [UInt8], waits: Bool = false) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: path)
            if path.first == UInt8(ascii: "@") { target[0] = 0 }
        }
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let flags = Int32(MSG_NOSIGNAL) | (waits ? 0 : Int32(MSG_DONTWAIT))
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
                sendto(socket, bytes, bytes.count, flags, target, length)
            }
        }
        return sent == bytes.count
    }
}

enum ThisProcess {
    static var id: Int32 { getpid() }

    /// Standard error as systemd names a stream, by device and inode; nil where it is closed.
    static var errorStream: String? {
        var status = stat()
        return fstat(STDERR_FILENO, &status) == 0 ? "\(status.st_dev):\(status.st_ino)" : nil
    }

    /// Whether standard error is the stream that systemd has connected to its journal (systemd.exec(5), `JOURNAL_STREAM`).
    static func writesToJournal(_ environment: [String: String]) -> Bool {
        guard let named = environment["JOURNAL_STREAM"] else { return false }
        return named == errorStream
    }
}
