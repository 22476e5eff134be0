/// What changes on the network, in order. The services that are there now are those found and not yet lost.
package enum DiscoveryEvent: Hashable, Sendable {
    /// DNS-SD works from here on. Comes first when avahi is there at the start, and again each time it comes back.
    case available
    /// DNS-SD does not work. Comes once per outage; a `lost` for every service that was there precedes it.
    case unavailable(DiscoveryOutage)
    /// Our own service is announced under this instance name, which differs from the one asked for when that was taken.
    case advertised(instanceName: String)
    /// A service of another device is there, or an address, its port or its TXT has changed.
    case found(DiscoveredService)
    /// The service of this instance name has gone.
    ///
    /// A service that leaves properly says so and is lost within about a second. One whose cable is cut stays until its
    /// records expire (75 minutes, RFC 6762 section 10): whether a peer still answers is for the transport to find out.
    case lost(instanceName: String)
}

/// Why DNS-SD does not work and what to do, for people: the two halves of a sentence.
package struct DiscoveryOutage: Hashable, Sendable {
    /// What does not work, why, and what follows from it; begins in lower case.
    package let reason: String
    /// What brings it back, in the imperative; begins in lower case, without a full stop.
    package let repair: String
    /// What a laptop can do: that, or go without.
    package var remedy: String { "\(repair), or name a laptop with 'muster peers add HOST:PORT'" }
}

/// A service of another device.
package struct DiscoveredService: Hashable, Sendable {
    /// Unique on the network at one time; may move to another device later (`lost`, then `found` with another id).
    package let instanceName: String
    /// TXT `id`: the short device id that it claims. Not proved.
    package let id: String
    /// TXT `fleet`: the short fleet hash that it claims, possibly empty. Not proved.
    package let fleet: String
    /// TXT `v`: the version of the peer protocol.
    package let protocolVersion: Int
    /// The host's name, with a dot at the end.
    package let hostName: String
    /// Numeric addresses, each once, the most promising first, never empty. Link-local IPv6 with its scope
    /// (`fe80::1%eth0`).
    package let addresses: [String]
    /// The TCP port of its listener.
    package let port: UInt16

    /// Takes the parts as they are.
    ///
    /// - Parameter addresses: at least one, in the order in which a caller had best try them.
    package init(
        instanceName: String, id: String, fleet: String, protocolVersion: Int, hostName: String, addresses: [String],
        port: UInt16
    ) {
        self.instanceName = instanceName
        self.id = id
        self.fleet = fleet
        self.protocolVersion = protocolVersion
        self.hostName = hostName
        self.addresses = addresses
        self.port = port
    }
}
