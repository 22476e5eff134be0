package import HTTPCoding

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
    /// When the daemon started, by the wall clock; RFC 3339 in UTC.
    package var startedAt: Timestamp
    /// How it tells the time; `GET /v1/clock` says more.
    package var clock: ClockStatus
    /// Whether it finds other devices by itself.
    package var discovery: DiscoveryStatus
    /// The same as `GET /v1/peers`: connected devices first.
    package var peers: [PeerStatus]
    /// Of all connected devices together.
    package var sync: SyncState
    /// How many jobs there are here, without those that were removed.
    package var jobs: Int
    /// How many were removed and have late work: those that `GET /v1/jobs` lists besides.
    package var removedJobs: Int
    /// Null where no server is configured.
    @Nullable package var server: ServerContact?
    /// What was asked for on this device, and waits.
    package var queue: QueueStatus
    /// Who is at this laptop as the user who asks; null while nobody is.
    @Nullable package var session: Session?

    /// Works out `sync` from `peers`.
    package init(
        deviceID: String, replicaID: String, name: String, version: String, startedAt: Timestamp, clock: ClockStatus,
        discovery: DiscoveryStatus, peers: [PeerStatus], jobs: Int, removedJobs: Int = 0,
        server: ServerContact? = nil, queue: QueueStatus, session: Session? = nil
    ) {
        self.session = session
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
        self.removedJobs = removedJobs
        self.server = server
        self.queue = queue
    }
}

/// How this device tells the time, in short; `ClockReport` says more.
package struct ClockStatus: Codable, Hashable, Sendable {
    /// Whose time is followed; `none` while the device goes by its own wall clock.
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
    /// How far corrected time may be off, either way; null without a server behind it.
    @Nullable package var uncertaintyMilliseconds: Double?

    /// Of a clock without a source both numbers are nil.
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

/// How DNS-SD (RFC 6763) fares, by which devices find each other.
package struct DiscoveryStatus: Codable, Hashable, Sendable {
    /// Whether devices are found; `unavailable` before discovery has begun, too.
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        case available
        case unavailable
        /// Switched off by `--no-discovery`, or because nobody but this machine can connect.
        case off
    }

    /// `off` stays so until the daemon is started again.
    package var state: State
    /// Why it is not available; null when it is, and before discovery has begun.
    @Nullable package var reason: String?
    /// What to do about it.
    @Nullable package var remedy: String?

    /// Both sentences are for people, and nil where it is available.
    package init(state: State, reason: String? = nil, remedy: String? = nil) {
        self.state = state
        self.reason = reason
        self.remedy = remedy
    }
}

/// The company's server, as this device last met it.
package struct ServerContact: Codable, Hashable, Sendable {
    /// The URL of its API, without a slash at the end.
    package var address: String
    /// When it was last asked with success; null when that never was, or is not known any more.
    @Nullable package var lastAnswerAt: Timestamp?
    /// How long ago that was.
    @Nullable package var ageSeconds: Double?
    /// What came of the last attempt to ask it.
    package var state: State
    /// Why it was not asked with success, for people; null where it was.
    @Nullable package var reason: String?

    /// What came of the last attempt; more may come.
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// Since the daemon has started it has not been asked.
        case unknown
        case reached
        /// This device has no route to it: most likely it has no internet.
        case noRoute
        case unreachable
        /// It answers, and cannot do what it should.
        case unhealthy
        /// It does not let this device in.
        case unauthorised
    }

    /// `lastAnswerAt` and `ageSeconds` are given together or not at all.
    package init(
        address: String, state: State = .unknown, reason: String? = nil, lastAnswerAt: Timestamp? = nil,
        ageSeconds: Double? = nil
    ) {
        self.address = address
        self.state = state
        self.reason = reason
        self.lastAnswerAt = lastAnswerAt
        self.ageSeconds = ageSeconds
    }
}

/// The outbox in a few numbers, of what was asked for on this device.
package struct QueueStatus: Codable, Hashable, Sendable {
    /// Requests on their way, however long that takes.
    package var pending: Int
    /// Requests that wait for a person: paused, or rejected for good.
    package var parked: Int
    /// How many of those that are parked wait for the end of a pause.
    package var paused: Int
    /// Whether a person has paused everything of this device.
    package var isPaused: Bool
    /// Jobs that a person has paused by themselves, whether anything of them waits or not.
    package var pausedJobs: [PausedJob]
    /// Of an answer to `POST /v1/queue/resume`: whether there was a pause to end; absent elsewhere.
    package var wasPaused: Bool?

    /// Zeros say that nothing waits; `parked` is worked out.
    package init(
        pending: Int = 0, paused: Int = 0, rejected: Int = 0, isPaused: Bool = false, pausedJobs: [PausedJob] = []
    ) {
        self.pending = pending
        self.paused = paused
        parked = paused + rejected
        self.isPaused = isPaused
        self.pausedJobs = pausedJobs
    }

    /// Those that the server has refused for good, and that nobody has dropped yet.
    package var rejected: Int { parked - paused }
}

/// A job of which nothing is sent until a person ends the pause.
package struct PausedJob: Codable, Hashable, Sendable {
    /// The job's full id.
    package var job: String
    /// What people call it; null where it is not here.
    @Nullable package var jobName: String?

    /// A job that is not here any more can still be paused.
    package init(job: String, jobName: String?) {
        self.job = job
        self.jobName = jobName
    }
}
