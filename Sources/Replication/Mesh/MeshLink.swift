import CRDT

/// What is known of one connection.
struct MeshLink: Sendable {
    enum Phase: Hashable, Sendable {
        case greeting
        /// It has said who it is, and is to tell the time before anything else.
        case learning(Learning)
        case established(Hello)
    }

    /// The two ends settle on one time.
    struct Learning: Hashable, Sendable {
        let hello: Hello
        let since: UInt64
        /// When to ask again, while the clocks are not settled.
        var askAgainDue: UInt64?
        /// Which side may show its work.
        var isReady = false
        var isPeerReady = false
    }

    let id: LinkID
    /// What the peer may be told.
    let access: JobAccess
    let isDialled: Bool
    var phase = Phase.greeting
    /// The peer reads too slowly: nothing is pushed until it has caught up.
    var isCongested = false
    var streams: [JournalName: OutgoingStream] = [:]
    var lastHeard: UInt64
    var pingSent: (number: UInt64, at: UInt64)?
    var lastPing: UInt64
    /// Set while the peer has to give a sign of life.
    var suspicion: Suspicion?
    /// Set while the peer owes an answer, and for a moment after it.
    var awaited: AwaitedAnswer?
    var roundTripMilliseconds: UInt64?
    var received = TransformCounts()
    /// What the peer is known to hold of the jobs that are open: those that differ or have changed lately.
    var jobs: [JobID: LinkJob] = [:]
    /// How many journals the peer holds in the open jobs.
    var entryCount = 0
    var comparison = Comparison()
    /// Open jobs of which the peer holds more than this device, or did when they were added.
    var wanted = WorkQueue<JobID>()
    /// Jobs that have grown while the peer did not read.
    var withheld: Set<JobID> = []
    /// Jobs of which it was asked to show this store's own journal.
    var askedForProof: Set<JobID> = []
    /// Journals that it was asked for.
    var fetchCount = 0
    var reportsUnderWay = 0

    /// Jobs of which the peer has shown that it holds some, or of which it was told as long as it was on them.
    var shown: Set<JobID> = []
    /// Jobs of which it has said in vain that they have ended.
    var refusedEnds: Set<JobID> = []
    /// What it was told of who is on a job.
    var toldRosters: [JobID: UInt64] = [:]

    init(id: LinkID, access: JobAccess, isDialled: Bool, now: UInt64) {
        self.id = id
        self.access = access
        self.isDialled = isDialled
        lastHeard = now
        lastPing = now
    }

    /// Whose key the peer has.
    var device: DeviceID { access.device }

    var hello: Hello? {
        if case .established(let hello) = phase { hello } else { nil }
    }

    /// Nil before and after; nothing else sets it to nil.
    var learning: Learning? {
        get { if case .learning(let learning) = phase { learning } else { nil } }
        set { if let newValue { phase = .learning(newValue) } }
    }

    /// What a link that is not established lacks.
    var missing: String { greeted == nil ? "No hello came." : "The peer does not say what time it is." }

    /// Who is there, established or about to be.
    var greeted: Hello? {
        learning?.hello ?? hello
    }

    var isEstablished: Bool { hello != nil }
}

/// The peer of a link may have gone, and was asked for a sign of life.
struct Suspicion: Sendable {
    let since: UInt64
    /// The link is closed unless something is heard by then.
    let until: UInt64
}

/// The peer of a link was sent what it has to answer.
struct AwaitedAnswer: Sendable {
    /// Until then it is watched more closely.
    let until: UInt64
    /// When it was last known to be there, or when the wait began.
    var lastSign: UInt64
    /// When it was asked for a sign of life since. Nobody is given up who was not asked: the daemon itself may have stood still.
    var probedAt: UInt64?
}

/// Transforms that came over a link.
package struct TransformCounts: Hashable, Sendable {
    /// What the pieces claimed to hold, at most one transform a byte; those that were held already count, too.
    package var all = 0
    /// Those that were held already.
    package var duplicates = 0
}

/// What is known of a peer's copy of one open job.
struct LinkJob: Sendable {
    /// What the peer is known to hold durably.
    var peer: VersionVector
    /// What was sent to the peer, not acknowledged yet.
    var sent: [ReplicaID: UInt64] = [:]
    /// What was held here of a journal when a run of it that the peer has brought since its last vector did not fit.
    var misfits: [ReplicaID: JournalHead] = [:]
    /// What was announced to the peer of what this device holds.
    var announced: VersionVector
    /// The peer is outside the tree: new transforms are announced to it rather than sent (Plumtree).
    var isLazy = false
    var pushWindow = PushWindow()
    /// For how many rounds nothing has happened.
    var quietRounds = 0

    /// What the peer was last heard to know of the job's end.
    var removal: JobRemoval?

    init(peer: VersionVector, announced: VersionVector, removal: JobRemoval?) {
        self.peer = peer
        self.announced = announced
        self.removal = removal
    }

    mutating func learn(_ change: (inout VersionVector) -> Void) {
        let before = underWay()
        change(&peer)
        let after = underWay()
        // Of a journal that the peer has cut it holds less than before (rule R9).
        if after < before { pushWindow.acknowledged(before - after) }
        quietRounds = 0
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
    /// How many bytes may be under way.
    var window: Int
    /// It was asked for before, and nothing came.
    var isRepeated = false
}

/// A job as the mesh knows it.
struct JobProgress: Sendable {
    /// What this device holds durably.
    var vector = VersionVector()
    /// What the removers of the job held; nil while it lives.
    var removal: JobRemoval?
    /// Runs that are being made durable, up to which sequence.
    var submitted: [ReplicaID: UInt64] = [:]
    /// Journals that have grown since the peers in the tree, and those outside it, were last told.
    var unacknowledged: Set<ReplicaID> = []
    var unannounced: Set<ReplicaID> = []

    /// The store's transactions by which the job has ended, and by which its journals got another branch.
    private(set) var ended: UInt64 = 0
    private(set) var swapped: [ReplicaID: UInt64] = [:]

    /// Where a journal stood when a transaction had put another branch in its place. One that was done before what was heard of
    /// already says nothing any more.
    mutating func swap(_ replica: ReplicaID, to head: JournalHead, in order: UInt64) {
        guard order >= max(ended, swapped[replica] ?? 0) else { return }
        vector.set(replica, to: head)
        swapped[replica] = order
    }

    /// Where the journals stood when a transaction had ended the job.
    mutating func end(_ vector: VersionVector, replaced: Set<ReplicaID>, in order: UInt64) {
        for entry in vector.entries {
            if replaced.contains(entry.replica) {
                swap(entry.replica, to: entry.head, in: order)
            } else if order >= swapped[entry.replica] ?? 0 {
                // What became durable after the end may have been heard of before it: other journals only grow.
                self.vector.advance(entry.replica, to: entry.head)
            }
        }
        ended = max(ended, order)
    }

    func reach(of replica: ReplicaID) -> UInt64 {
        max(vector[replica].sequence, submitted[replica] ?? 0)
    }

    /// Equal on two devices that hold the same; nil when nothing is held.
    var fingerprint: UInt64? {
        guard let removal else { return vector.entries.isEmpty ? nil : vector.fingerprint }
        var name = removal.name
        let hash = name.withUTF8 { SipHash.hash(UnsafeRawBufferPointer($0), key: (removal.heads.fingerprint, 1)) }
        return vector.fingerprint ^ hash
    }
}

/// How many transforms of a job may be pushed to a peer before it acknowledges some.
///
/// As long as nobody knows which links are needed, a storm of edits would come over all of them. So it begins small, and
/// grows by what is acknowledged, as TCP's slow start does (RFC 5681 section 3.1).
struct PushWindow: Sendable {
    /// Of a link that may well be needed.
    private static let first = 8
    private static let largest = 1 << 20

    private(set) var size = first

    /// Of a link that was outside the tree: it has to prove itself.
    static let grafted = PushWindow(size: 1)

    mutating func acknowledged(_ count: UInt64) { size += min(Int(clamping: count), Self.largest - size) }
}

extension LinkJob {
    /// Transforms that were sent to the peer and that it is not known to hold.
    mutating func underWay() -> UInt64 {
        var count: UInt64 = 0
        for (replica, sequence) in sent {
            let held = peer[replica].sequence
            if held >= sequence { sent[replica] = nil } else { count += sequence - held }
        }
        return count
    }

    /// The same without a count, and without forgetting what it holds by now.
    var isUnderWay: Bool { sent.contains { peer[$0.key].sequence < $0.value } }

    /// Takes the link into the tree.
    mutating func graft() {
        if isLazy { pushWindow = .grafted }
        isLazy = false
    }

    /// Whether a run may be pushed now.
    mutating func hasRoomToPush() -> Bool { underWay() < pushWindow.size }
}
