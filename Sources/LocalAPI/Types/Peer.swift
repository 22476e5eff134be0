package import HTTPCoding

/// Another device that this one has heard of or talks to.
package struct PeerStatus: Codable, Hashable, Sendable {
    /// How far this device has come with reaching the other.
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// Known, not (yet) connected.
        case discovered
        case connecting
        case connected
        /// Tried and not reached; tried again later.
        case unreachable
    }

    /// How this device came to know of the other.
    package enum Origin: String, Codable, Hashable, Sendable, CaseIterable {
        /// Found through DNS-SD.
        case discovery
        /// Named by `--peer`, `POST /v1/peers` or `muster peers add`.
        case configured
        /// It dialled this device.
        case incoming
    }

    /// 64 hexadecimal digits; null for an address that has not answered yet.
    @Nullable package var deviceID: String?
    /// The host's name, for people; without a connection the one that discovery tells, if any.
    @Nullable package var name: String?
    /// `HOST:PORT`, IPv6 hosts in brackets; empty for a connection whose other end is not known.
    package var address: String
    /// `connecting` as soon as any of the device's addresses is dialled.
    package var state: State
    /// Of the connection; without one, of the address.
    package var origin: Origin
    /// Why it was not reached the last time, in a sentence; null where it is or may yet be, and where that is not known.
    @Nullable package var reason: String?
    /// Transforms that this device holds and the peer has not acknowledged; null when not connected.
    @Nullable package var behind: Int?
    /// Transforms that the peer has announced and this device does not hold yet; null when not connected.
    @Nullable package var ahead: Int?
    /// The last measured round trip, in whole milliseconds; null before there was one.
    @Nullable package var roundTripMilliseconds: Double?
    /// On the present connection, framing included; 0 without one.
    package var bytesReceived: Int
    /// On the present connection, framing included; 0 without one.
    package var bytesSent: Int
    /// Transforms that came over the present connection.
    package var transformsReceived: Int
    /// Those of them that were here already.
    package var transformsDuplicate: Int
    /// When a frame last came from it, by the wall clock; null when not connected.
    @Nullable package var lastHeardAt: Timestamp?

    /// What has a default is known of a connected device only.
    package init(
        deviceID: String?, name: String?, address: String, state: State, origin: Origin, reason: String? = nil,
        behind: Int? = nil, ahead: Int? = nil, roundTripMilliseconds: Double? = nil, bytesReceived: Int = 0,
        bytesSent: Int = 0, transformsReceived: Int = 0, transformsDuplicate: Int = 0, lastHeardAt: Timestamp? = nil
    ) {
        self.deviceID = deviceID
        self.name = name
        self.address = address
        self.state = state
        self.origin = origin
        self.reason = reason
        self.behind = behind
        self.ahead = ahead
        self.roundTripMilliseconds = roundTripMilliseconds
        self.bytesReceived = bytesReceived
        self.bytesSent = bytesSent
        self.transformsReceived = transformsReceived
        self.transformsDuplicate = transformsDuplicate
        self.lastHeardAt = lastHeardAt
    }

    /// Connected, and neither side lacks anything.
    package var isInSync: Bool { state == .connected && behind == 0 && ahead == 0 }
}

/// How the connected devices stand to this one.
package enum SyncState: String, Codable, Hashable, Sendable, CaseIterable {
    /// No device is connected: nothing is known of what others hold.
    case notConnected
    /// Every connected device holds the same.
    case inSync
    /// Something is still under way, to or from a connected device.
    case catchingUp
}

extension SyncState {
    /// Looks at connected devices only.
    package init(_ peers: [PeerStatus]) {
        let connected = peers.filter { $0.state == .connected }
        self = connected.isEmpty ? .notConnected : connected.allSatisfy(\.isInSync) ? .inSync : .catchingUp
    }
}
