package import CRDT
package import Storage

/// Whoever wants to know what replication brings.
package protocol ReplicationObserver: Sendable {
    /// A job has new transforms, durably. `applied` is empty when they are too many to follow.
    func jobAdvanced(_ job: JobID, vector: VersionVector, applied: [AppliedChange])
}
