/// Why nobody was reached at an address.
package enum DialFailure: Hashable, Sendable, CaseIterable {
    /// The machine is there and takes no connection at this port: nothing listens, or its firewall says so.
    case refused
    /// Nothing came back: a firewall drops what comes, or nobody is there any more.
    case silent
    /// The network says that there is no way to it.
    case noWay
    /// Its name has no address.
    case unknownName
    /// Somebody was there, who did not show to be of the fleet, or went away.
    case notShown
    /// Something of this machine, such as too many connections.
    case other
}
