import LocalAPIServer

/// What can be known of a start before anything is made.
extension NodeConfiguration {
    /// Looks, without making anything, whether the state directory and the sockets can be had as they are set.
    ///
    /// - Throws: `StateDirectory.Fault`; `APIError` for a path that is too long, or a group that is not there.
    package func checkPlaces() throws {
        try StateDirectory.check(stateDirectory)
        for socket in [Optional(ownSocket), readingSocket].compactMap(\.self) { try socket.check() }
    }
}
