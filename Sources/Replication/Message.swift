package import CRDT
package import Timekeeping

/// What two daemons say to each other. `WireFormat` gives each case its protobuf form.
package enum Message: Hashable, Sendable {
    /// The first message in each direction.
    case hello(Hello)
    /// Asks for a `pong` with the same number.
    case ping(UInt64)
    /// When the ping came and when this went out, by the sender's corrected time in microseconds, and what the sender
    /// says of its clock.
    case pong(UInt64, received: Int64, answered: Int64, ClockQuality)
    /// The sender has learned the time from the receiver, or has waited long enough, and may show its work. Until both
    /// sides have said so, a link carries nothing but pings and pongs (rule R5).
    case ready
    /// Who was shut out of the fleet; signed, as `Identity` encodes it. It comes before everything but the hello.
    case revocations([[UInt8]])
    /// Who is on jobs: before anything else of them is told.
    case assignments([Assignment])
    /// One number for all jobs that the sender holds, and that the receiver may be told of: who holds the same needs no further word.
    case fingerprint(UInt64)
    /// Asks for `buckets`.
    case bucketsRequest
    /// One number for the sender's jobs in each bucket of job ids, `ProtocolLimits.jobBuckets` of them; 0 where it has none.
    case buckets([UInt64])
    /// Asks for the `summaries` of a bucket.
    case summariesRequest(bucket: UInt32)
    /// One line per job of a bucket that the sender holds.
    case summaries(bucket: UInt32, [JobSummary])
    /// Asks for the `vector` of a job.
    case vectorRequest(job: JobID)
    /// How far the sender holds each journal of a job, durably; and when the job has been removed, what its removers held.
    case vector(job: JobID, VersionVector, end: ToldEnd?)
    /// Entries of the sender's vector that have advanced: acknowledgement to who sent, announcement to all others.
    case have(job: JobID, [VersionVector.Entry])
    /// Asks for a journal from a sequence on, at most `credit` bytes until more is granted.
    /// `graft` also asks to be pushed to from now on (Plumtree).
    case request(job: JobID, replica: ReplicaID, from: UInt64, credit: UInt32, graft: Bool)
    /// Grants a running request more bytes.
    case credit(job: JobID, replica: ReplicaID, bytes: UInt32)
    /// A piece of a journal; `pushed` when nobody asked for it.
    case delta(job: JobID, JournalSegment, pushed: Bool)
    /// Asks to be told of new transforms rather than sent them (Plumtree).
    case prune(job: JobID)
    /// Asks for the digests of a journal at a sequence, to find where two copies of it part (rule R9).
    case probe(job: JobID, replica: ReplicaID, sequence: UInt64)
    /// Answers a `probe`.
    case probeAnswer(job: JobID, replica: ReplicaID, ProbeAnswer)
    /// Tells that the sender's copy of a journal and the receiver's part somewhere, so that the receiver looks too.
    case forked(job: JobID, replica: ReplicaID)
    /// Asks how the receiver's copy of a job looks, for a person who compares.
    case reportRequest(job: JobID, number: UInt64)
    /// Answers a `reportRequest`; it has its number.
    case report(JobDigestReport)
    /// The sender closes the connection and says why.
    case goodbye(String)
}

/// Who is there, and which versions of the protocol it speaks.
package struct Hello: Hashable, Sendable {
    /// The oldest version that the sender speaks.
    package var minimumVersion: UInt32
    /// The newest one; both ends speak the newest that they share.
    package var maximumVersion: UInt32
    /// Who the sender says it is: the mesh asks that its key says the same.
    package var device: DeviceID
    /// Random per start of the daemon: tells a copy of this device from this device itself.
    package var instance: UInt64
    /// The host's name, for people.
    package var name: String
    /// One number for all revocations that the sender knows of.
    package var revocations: UInt64

    /// Takes any text; one that is longer than `ProtocolLimits.nameBytes` or has control characters cannot be sent.
    package init(
        minimumVersion: UInt32, maximumVersion: UInt32, device: DeviceID, instance: UInt64, name: String,
        revocations: UInt64 = 0
    ) {
        self.minimumVersion = minimumVersion
        self.maximumVersion = maximumVersion
        self.device = device
        self.instance = instance
        self.name = name
        self.revocations = revocations
    }

    /// Whether this program speaks any version that the sender speaks.
    package var isUnderstood: Bool {
        minimumVersion <= ProtocolLimits.version && maximumVersion >= ProtocolLimits.minimumVersion
    }
}

/// A job and one number for what is held of it: equal numbers need no further word.
package struct JobSummary: Hashable, Sendable {
    /// A job of the bucket that was asked for; any other is passed over.
    package var job: JobID
    /// One number for the version vector and, of a job that has ended, its removal; equal where both hold the same.
    package var fingerprint: UInt64

    /// Takes a fingerprint that both ends work out alike.
    package init(job: JobID, fingerprint: UInt64) {
        self.job = job
        self.fingerprint = fingerprint
    }
}

/// The state of one journal copy at one sequence.
package struct ProbeAnswer: Hashable, Sendable {
    /// Where the change that contains the asked sequence ends, and the digest there; nil when it is not held.
    package var boundary: JournalHead?
    /// By the hash of that change alone the choice is made between two branches.
    package var changeHash: UInt64
    /// The one that was asked for; by it the answer finds its probe.
    package var sequence: UInt64

    /// Takes 0 as the hash where there is no boundary, and for what went with a removed job.
    package init(sequence: UInt64, boundary: JournalHead?, changeHash: UInt64) {
        self.sequence = sequence
        self.boundary = boundary
        self.changeHash = changeHash
    }
}

/// A device's copy of a job in one line.
package struct JobDigestReport: Hashable, Sendable {
    /// The one that was asked for, also when it is not held.
    package var job: JobID
    /// Of the request that it answers.
    package var number: UInt64
    /// How far its journals are held; empty when the job is not held.
    package var vector: VersionVector
    /// SHA-256 of the canonical export at that vector; empty when the job is not held.
    package var digest: [UInt8]

    /// Takes a digest of 32 bytes, or none.
    package init(job: JobID, number: UInt64, vector: VersionVector, digest: [UInt8]) {
        self.job = job
        self.number = number
        self.vector = vector
        self.digest = digest
    }
}

/// The end of a job, as a peer tells it.
package struct ToldEnd: Hashable, Sendable {
    package let removal: JobRemoval
    /// `JobRoster.fingerprint`, as far as the peer knows who is on the job: by other words it may not have ended.
    package let words: UInt64

    package init(_ removal: JobRemoval, knowing words: UInt64 = 0) {
        self.removal = removal
        self.words = words
    }
}

/// Limits that both sides keep, so that memory stays bounded whatever a peer does.
package enum ProtocolLimits {
    /// The newest version that this program speaks.
    package static let version: UInt32 = 11
    /// The oldest. Before version 8 journals were not signed, before version 9 the server's was not, before version 10 no request was, and
    /// every laptop was told of every job, and before version 11 anybody could end one.
    package static let minimumVersion: UInt32 = 11
    /// Of one message; longer logs take several.
    package static let revocationsPerMessage = 64
    /// Of one revocation.
    package static let revocationBytes = 4_096
    /// Of one message; more take several.
    package static let assignmentsPerMessage = 32
    /// A frame's payload, in bytes.
    package static let frameBytes = 1 << 20
    /// Bytes that are read for one `delta`: as many stored rows as fit, or a single one that is longer.
    package static let deltaBytes = JournalSegment.usualBytes
    /// The name of a host, in bytes of UTF-8.
    package static let nameBytes = 128
    /// How many buckets the jobs are compared in.
    package static let jobBuckets = 256
    /// Of one bucket. Who holds more than a million jobs lists the first ones.
    package static let summariesPerMessage = 4096
    /// Journals of one job that a peer may name; who names more is cut off.
    package static let entriesPerVector = 8192
    /// No journal reaches further: sums of as many as a device remembers cannot overflow.
    package static let sequence: UInt64 = 1 << 40
}
