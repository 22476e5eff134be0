/// What `muster status` shows: this device at a glance.
package struct Status: Codable, Hashable, Sendable {
    /// 64 hexadecimal digits.
    package var deviceID: String
    /// 32 hexadecimal digits.
    package var replicaID: String
    /// The host's name.
    package var name: String
    /// Of the daemon.
    package var version: String
    package var startedAt: Timestamp
    package var clock: ClockStatus
    package var discovery: DiscoveryStatus
    package var peers: [PeerStatus]
    /// Of all connected devices together.
    package var sync: SyncState
    /// How many jobs this device holds.
    package var jobs: Int
    /// Null where no server is configured.
    @Nullable package var server: ServerContact?
    package var queue: QueueStatus

    package init(
        deviceID: String, replicaID: String, name: String, version: String, startedAt: Timestamp, clock: ClockStatus,
        discovery: DiscoveryStatus, peers: [PeerStatus], jobs: Int,
        server: ServerContact? = nil, queue: QueueStatus
    ) {
        self.deviceID = deviceID
        self.replicaID = replicaID
        self.name = name
        self.version = version
        self.startedAt = startedAt
        self.clock = clock
        self.discovery = discovery
        self.peers = peers
        sync = SyncState(peers)
        self.jobs = jobs
        self.server = server
        self.queue = queue
    }
}

package struct ClockStatus: Codable, Hashable, Sendable {
    package enum Source: String, Codable, Hashable, Sendable, CaseIterable {
        case server
        case peer
        case none
    }

    /// Where the time comes from.
    package var source: Source
    /// Whether a server stands behind the source.
    package var isSynchronised: Bool
    /// The wall clock minus corrected time; null before there was a source.
    @Nullable package var driftMilliseconds: Double?
    @Nullable package var uncertaintyMilliseconds: Double?

    package init(
        source: Source, isSynchronised: Bool = false, driftMilliseconds: Double? = nil,
        uncertaintyMilliseconds: Double? = nil
    ) {
        self.source = source
        self.isSynchronised = isSynchronised
        self.driftMilliseconds = driftMilliseconds
        self.uncertaintyMilliseconds = uncertaintyMilliseconds
    }
}

package struct DiscoveryStatus: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        case available
        case unavailable
        /// Switched off by `--no-discovery`.
        case off
    }

    package var state: State
    /// Why it is unavailable.
    @Nullable package var reason: String?
    /// What to do about it.
    @Nullable package var remedy: String?

    package init(state: State, reason: String? = nil, remedy: String? = nil) {
        self.state = state
        self.reason = reason
        self.remedy = remedy
    }
}

/// The company's server, as this device last met it.
package struct ServerContact: Codable, Hashable, Sendable {
    package var address: String
    /// When it was last asked with success; null when that never was, or is not known any more.
    @Nullable package var lastAnswerAt: Timestamp?
    /// How long ago that was.
    @Nullable package var ageSeconds: Double?

    package init(address: String, lastAnswerAt: Timestamp? = nil, ageSeconds: Double? = nil) {
        self.address = address
        self.lastAnswerAt = lastAnswerAt
        self.ageSeconds = ageSeconds
    }
}

/// The outbox in two numbers.
package struct QueueStatus: Codable, Hashable, Sendable {
    package var pending: Int
    package var parked: Int

    package init(pending: Int = 0, parked: Int = 0) {
        self.pending = pending
        self.parked = parked
    }
}
