package import CRDT

/// What became of a job's removal that a peer or the server told of.
package struct RemovalOutcome: Hashable, Sendable {
    package let removal: JobRemoval
    /// How far this store now holds the job's journals.
    package let vector: VersionVector
    /// What only another branch of a journal held, written again as late work; nil when there was none.
    package let reissued: Commit?
    /// Journals that were other branches here: what was held of them is nowhere any more.
    package var replaced: Set<ReplicaID> = []
}
