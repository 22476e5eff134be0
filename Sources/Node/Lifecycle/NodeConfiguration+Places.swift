import LocalAPIServer

/// What can be known of a start before anything is made.
extension NodeConfiguration {
    /// Looks, without making anything, whether the state directory and the sockets can be had as they are set.
    ///
    /// - Throws: `StateDirectory.Fault`; `APIError` for a path that is too long, or a group that is not there.
    package func checkPlaces() throws {
        try StateDirectory.check(stateDirectory)
        for socket in sockets { try socket.check() }
    }

    private var sockets: [LocalSocket] { [ownSocket, readingSocket].compactMap(\.self) }

    /// Whether a daemon that goes by others is to take these up.
    ///
    /// - Throws: `ConfigurationError` for another store: whether it can be opened only a start tells; `APIError` for a socket that
    ///   cannot be had.
    package func differs(from former: NodeConfiguration) throws -> Bool {
        guard stateDirectory == former.stateDirectory else {
            throw ConfigurationError(
                "A reload keeps the state directory \(former.stateDirectory); restart the daemon to use \(stateDirectory)."
            )
        }
        // The daemon's own ones are answered by itself.
        for socket in sockets where !former.sockets.contains(where: socket.isSame) { try socket.prove() }
        return !settings.elementsEqual(former.settings, by: ==)
    }
}
