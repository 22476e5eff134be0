#if canImport(Glibc)
    import Glibc
#endif

/// How avahi-daemon is, seen from outside: by its socket, its unit file and its program.
package struct AvahiProbe: Sendable {
    /// How it is.
    package enum State: Hashable, Sendable {
        case answers
        /// It takes a connection and says nothing.
        case silent
        case stopped
        /// Nobody can start it.
        case masked
        case missing
        /// This process may not ask it.
        case closed
    }

    /// So long it may take to answer what needs no network.
    private static let patienceMilliseconds: Int32 = 1_000

    private let socket: String
    private let unitDirectories: [String]
    private let programs: [String]

    /// - Parameters:
    ///   - socket: where it takes questions in text.
    ///   - unitDirectories: where an administrator masks units.
    ///   - programs: where it may be installed.
    package init(
        socket: String = "/run/avahi-daemon/socket",
        unitDirectories: [String] = ["/etc/systemd/system", "/run/systemd/system"],
        programs: [String] = ["/usr/sbin/avahi-daemon", "/usr/bin/avahi-daemon"]
    ) {
        self.socket = socket
        self.unitDirectories = unitDirectories
        self.programs = programs
    }

    /// Looks now; waits for a second at most.
    package var state: State {
        switch ask() {
        case .success(let hasAnswered): return hasAnswered ? .answers : .silent
        case .failure(let failure) where [EACCES, EPERM].contains(failure.code): return .closed
        case .failure: break
        }
        if !programs.contains(where: { access($0, F_OK) == 0 }) { return .missing }
        return unitDirectories.contains { Self.isMasked("\($0)/avahi-daemon.service") } ? .masked : .stopped
    }

    private struct Failure: Error {
        let code: Int32
    }

    /// - Returns: whether it has answered in time; it failed where no connection came about.
    private func ask() -> Result<Bool, Failure> {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard socket.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            return .failure(Failure(code: ENAMETOOLONG))
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8) }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return .failure(Failure(code: errno)) }
        defer { close(descriptor) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            // Its queue of connections is full, which it would empty if it ran.
            return errno == EAGAIN ? .success(false) : .failure(Failure(code: errno))
        }
        let question = Array("HELP\n".utf8)
        guard send(descriptor, question, question.count, Int32(MSG_NOSIGNAL)) == question.count else {
            return .success(false)
        }
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, Self.patienceMilliseconds) == 1 else { return .success(false) }
        var byte: UInt8 = 0
        return .success(recv(descriptor, &byte, 1, 0) == 1)
    }

    /// systemctl(1), "mask": the unit leads nowhere.
    private static func isMasked(_ unit: String) -> Bool {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(unit, &target, target.count)
        return count > 0 && target.prefix(count).map { UInt8(bitPattern: $0) }.elementsEqual("/dev/null".utf8)
    }
}

extension AvahiProbe.State {
    /// What is wrong, and what mends it; nil where avahi answers, or nobody can tell.
    package var fault: (finding: String, remedy: String)? {
        switch self {
        case .answers, .closed: nil
        case .silent:
            (
                "avahi-daemon stands still: it takes questions and does not answer",
                "restart avahi (systemctl restart avahi-daemon)"
            )
        case .stopped: ("avahi-daemon does not run", "start avahi (systemctl enable --now avahi-daemon)")
        case .masked:
            (
                "avahi-daemon is masked, so that nobody can start it",
                "unmask avahi (systemctl unmask avahi-daemon avahi-daemon.socket), then 'systemctl enable --now avahi-daemon'"
            )
        case .missing:
            (
                "avahi is not installed",
                "install avahi (apt-get install avahi-daemon libavahi-compat-libdnssd1)"
            )
        }
    }
}
