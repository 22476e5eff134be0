import CRDT

/// What is known of one connection.
struct Link: Sendable {
    enum Phase: Hashable, Sendable {
        case greeting
        /// It has said who it is, and is to tell the time before anything else.
        case learning(Hello, version: UInt32)
        case established(Hello, version: UInt32)
    }

    let id: LinkID
    let isDialled: Bool
    var phase = Phase.greeting
    /// While it is learning: when that began, when to ask again, and which side may show its work.
    var learningSince: UInt64 = 0
    var pingAgainDue: UInt64?
    var isReady = false
    var isPeerReady = false
    /// The peer reads too slowly: nothing is pushed until it has caught up.
    var isCongested = false
    var jobs: [JobID: LinkJob] = [:]
    var streams: [JournalName: OutgoingStream] = [:]
    var lastHeard: UInt64
    var pingSent: (number: UInt64, at: UInt64)?
    var lastPing: UInt64
    /// Closed unless something is heard by then.
    var suspectedUntil: UInt64?
    var roundTripMilliseconds: UInt64?
    var received = TransformCounts()
    /// How many journals the peer has claimed to hold, in all jobs.
    var entryCount = 0
    var reportsUnderWay = 0

    init(id: LinkID, isDialled: Bool, now: UInt64) {
        self.id = id
        self.isDialled = isDialled
        lastHeard = now
        lastPing = now
    }

    var hello: Hello? {
        if case .established(let hello, _) = phase { hello } else { nil }
    }

    /// What a link that is not established lacks.
    var missing: String { greeted == nil ? "No hello came." : "The peer does not say what time it is." }

    /// Who is there, established or about to be.
    var greeted: Hello? {
        if case .learning(let hello, _) = phase { hello } else { hello }
    }

    var isEstablished: Bool { hello != nil }
}

/// Transforms that came over a link.
package struct TransformCounts: Hashable, Sendable {
    package var all = 0
    /// Those that were held already.
    package var duplicates = 0
}

/// What is known of a peer's copy of one job.
struct LinkJob: Sendable {
    /// What the peer is known to hold durably.
    var peer = VersionVector()
    /// What was sent to the peer, not acknowledged yet.
    var sent: [ReplicaID: UInt64] = [:]
    /// What the peer was told that this device holds.
    var told: [ReplicaID: UInt64] = [:]
    /// The peer is outside the tree: told of new transforms rather than sent them (Plumtree).
    var isLazy = false
    /// This device's vector has gone out on this link.
    var vectorWasSent = false

    mutating func learn(_ change: (inout VersionVector) -> Void) {
        change(&peer)
    }

    /// Up to where the peer has, or is about to have, a journal.
    func reach(of replica: ReplicaID) -> UInt64 {
        max(peer[replica].sequence, sent[replica] ?? 0)
    }
}

/// A journal of a job.
struct JournalName: Hashable, Comparable, Sendable {
    let job: JobID
    let replica: ReplicaID

    static func < (left: JournalName, right: JournalName) -> Bool {
        (left.job, left.replica) < (right.job, right.replica)
    }
}

/// A journal that a peer asked for and is being sent.
struct OutgoingStream: Sendable {
    var next: UInt64
    var credit: Int
    var isLoading = false
}

/// A journal that this device has asked a peer for.
struct Fetch: Sendable {
    let link: LinkID
    var deadline: UInt64
    /// What was held when it was asked for.
    let reach: UInt64
    /// It was asked for before, and nothing came.
    var isRepeated = false
}

/// A job as the mesh knows it.
struct JobProgress: Sendable {
    /// What this device holds durably.
    var vector = VersionVector()
    /// Runs that are being made durable, up to which sequence.
    var submitted: [ReplicaID: UInt64] = [:]
    /// Journals that have grown since the peers in the tree, and those outside it, were last told.
    var unacknowledged: Set<ReplicaID> = []
    var unannounced: Set<ReplicaID> = []

    func reach(of replica: ReplicaID) -> UInt64 {
        max(vector[replica].sequence, submitted[replica] ?? 0)
    }
}
