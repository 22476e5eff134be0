/// Where to listen, and what a peer may cost.
package struct TransportConfiguration: Sendable {
    /// A numeric address of this machine to listen on.
    package var host: String
    /// 0 takes any free port; see `PeerTransport.boundPort`.
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    package var connectTimeout: Duration = .seconds(3)
    /// The time in which the first frame, a hello, must have come.
    package var handshakeTimeout: Duration = .seconds(5)
    /// How many connections, of either direction, may still owe their hello.
    package var halfOpenLimit = 32
    /// How many connections may stand at all.
    package var linkLimit = 128
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

/// The bytes that went over one link, framing included.
package struct LinkTraffic: Hashable, Sendable {
    package var bytesReceived: UInt64
    package var bytesSent: UInt64

    package init(bytesReceived: UInt64 = 0, bytesSent: UInt64 = 0) {
        self.bytesReceived = bytesReceived
        self.bytesSent = bytesSent
    }
}
