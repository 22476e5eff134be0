package import CRDT

/// What became of a job's removal that a peer or the server told of.
package struct RemovalOutcome: Hashable, Sendable {
    /// What all removers that are known here held, merged.
    package let removal: JobRemoval
    /// How far this store now holds the job's journals.
    package let vector: VersionVector
    /// What only another branch of a journal held, written again as late work; nil when there was none.
    package let reissued: Commit?
    /// Journals of which another branch was held: nothing of it is left under their names.
    package var replaced: Set<ReplicaID> = []
    /// When that was so, among this store's transactions: others may have changed it before it is heard of.
    package var order: UInt64 = 0
}
