import LocalAPI
import Systemd

/// Where callers connect, who may, and what they may do there.
package struct LocalSocket: Sendable {
    /// What callers may do.
    package enum Access: Sendable {
        case all
        /// They change nothing, and see no code of an invitation.
        case looking
    }

    /// Of the socket's file.
    package let path: String
    /// The group whose members may connect, besides the daemon's user and root; nil for the group of the daemon.
    package let group: String?
    /// What they may do there.
    package let access: Access

    /// Whether all directories above it are made, and not the last one alone: a slip in a path makes no tree.
    package let makesParents: Bool

    /// Takes all as it is.
    package init(path: String, group: String? = nil, access: Access = .all, makesParents: Bool = false) {
        self.path = path
        self.makesParents = makesParents
        self.group = group
        self.access = access
    }

    /// Looks whether the socket can be made as it is asked for; makes nothing.
    ///
    /// - Throws: `APIError` for a path that is too long, or a group that is not there.
    package func check() throws { try file.check() }

    /// Whether both paths are one, however they are written.
    package func isSame(as other: LocalSocket) -> Bool { file.isSame(as: other.file) }

    /// Takes the path for a moment, for a daemon that has other ones: its directory is made, if that is missing, and stays.
    ///
    /// - Throws: `APIError` where somebody answers there, or where there can be no socket.
    package func prove() throws { try file.prepare().release() }

    var file: SocketFile { SocketFile(path: path, group: group, makesParents: makesParents) }
}
