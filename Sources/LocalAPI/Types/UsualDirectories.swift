/// Where a daemon keeps what it has, and is found, unless it is told otherwise.
package struct UsualDirectories: Hashable, Sendable {
    /// Of the store.
    package let state: String
    /// Of the local API: the socket's path.
    package let socket: String

    private init(state: String, socket: String) {
        self.state = state
        self.socket = socket
    }

    /// Of a service of the machine.
    package static let system = UsualDirectories(state: "/var/lib/muster", socket: "/run/muster/muster.sock")

    /// - Parameters:
    ///   - environment: the process's.
    ///   - isRoot: root's daemon is the machine's; anybody else's keeps its own things in their home (XDG Base Directory
    ///     Specification).
    package init(environment: [String: String], isRoot: Bool) {
        func directory(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        guard !isRoot, let state = directory("XDG_STATE_HOME") ?? directory("HOME").map({ $0 + "/.local/state" }) else {
            self = .system
            return
        }
        self.state = state + "/muster"
        // Without a runtime directory, as in a shell of su(1), the socket lies with the store.
        socket = (directory("XDG_RUNTIME_DIR") ?? state) + "/muster/muster.sock"
    }

    /// Where a command finds the daemon: this user's own if there is one, else the machine's.
    ///
    /// - Parameter exists: whether there is a file at a path.
    package static func socket(
        environment: [String: String], isRoot: Bool, exists: (String) -> Bool
    ) -> String {
        let own = UsualDirectories(environment: environment, isRoot: isRoot).socket
        return exists(own) || !exists(system.socket) ? own : system.socket
    }
}
