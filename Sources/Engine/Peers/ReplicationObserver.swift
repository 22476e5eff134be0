package import CRDT
package import Storage

/// A job has new transforms, durably.
package struct JobAdvance: Sendable {
    /// Which one.
    package let job: JobID
    /// Where its journals stand now.
    package let vector: VersionVector
    /// Whether the job has ended (rule R10).
    package let isRemoved: Bool
    /// What changed; empty when it is too much to follow.
    package let applied: [AppliedChange]
    /// The outbox has to look for requests and for what became of them: some may be among it that it was not told of.
    package let concernsOutbox: Bool
}

/// Whoever wants to know what replication brings.
package protocol ReplicationObserver: Sendable {
    /// Must not wait.
    func jobAdvanced(_ advance: JobAdvance)
}
