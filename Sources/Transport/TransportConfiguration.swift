import Replication

/// Where to listen, and what a peer may cost.
package struct TransportConfiguration: Sendable {
    /// Every address of this machine, of IPv6 and IPv4 where it has both.
    package static let everyHost = PeerAddress.everyHost

    /// A numeric address of this machine to listen on, or `everyHost`.
    package var host: String
    /// 0 takes any free port; see `PeerTransport.boundPort`.
    package var port: Int

    /// Takes where to listen; everything else has the defaults of its property.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// How long a dial may take until the connection stands.
    package var connectTimeout: Duration = .seconds(3)
    /// The time in which the first frame, a hello, must have come.
    package var handshakeTimeout: Duration = .seconds(5)
    /// How many connections may stand, in each state and from one address.
    package var connections = ConnectionLimits()
    /// Outbound bytes of a link above which it counts as congested …
    package var highWaterBytes = 1 << 20
    /// … until they fall to this.
    package var lowWaterBytes = 256 << 10
    /// Outbound bytes of a link above which it is closed, because its peer does not read.
    package var backlogLimitBytes = 8 << 20
    /// The wait before the second attempt to listen; it doubles with each further one …
    package var firstBindRetryDelay: Duration = .seconds(1)
    /// … up to this.
    package var longestBindRetryDelay: Duration = .seconds(15)
    /// How long unacknowledged bytes, or a silent peer that answers no probes, keep a connection.
    package var deadPeerTimeout: Duration = .seconds(20)
}

/// How many connections may stand. A crew has up to 12 laptops, and all of them may be behind one address: in one virtual
/// machine's network, behind one router, or on one machine.
package struct ConnectionLimits: Hashable, Sendable {
    /// Those that this device dialled; nobody else can fill that room.
    package var dialled = 64
    /// Those that came in and have gone through the greeting.
    package var incoming = 128
    /// The same from one address: half, so that no single one can take all.
    package var incomingPerSource = 64
    /// Those that came in and have not: a few seconds of a crew that has lost its network for a moment.
    package var halfOpen = 64
    /// The same from one address: two for each laptop of a crew behind it, because both ends may dial.
    package var halfOpenPerSource = 24

    /// Room for a crew of twelve behind one address.
    package init() {}
}

/// The bytes that went over one link, framing included.
package struct LinkTraffic: Hashable, Sendable {
    /// As they came from the socket, whether or not a message came of them.
    package var bytesReceived: UInt64
    /// As the kernel has taken them; what still waits does not count.
    package var bytesSent: UInt64

    /// By default of a link over which nothing went yet.
    package init(bytesReceived: UInt64 = 0, bytesSent: UInt64 = 0) {
        self.bytesReceived = bytesReceived
        self.bytesSent = bytesSent
    }
}
