import LocalAPI

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

    /// Takes all as it is.
    package init(path: String, group: String? = nil, access: Access = .all) {
        self.path = path
        self.group = group
        self.access = access
    }

    /// Looks whether the socket can be made as it is asked for; makes nothing.
    ///
    /// - Throws: `APIError` for a path that is too long, or a group that is not there.
    package func check() throws { try SocketFile(path: path, group: group).check() }
}
