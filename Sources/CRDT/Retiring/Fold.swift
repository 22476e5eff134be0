/// Which transforms are forgotten, and what everybody held when that was decided (rule R10).
package struct Fold: Hashable, Sendable {
    /// What is folded of one journal.
    package struct Journal: Hashable, Sendable {
        package let replica: ReplicaID
        /// Whole changes, by the sequences of their transforms: ascending, apart from each other, at least one.
        package let runs: [ClosedRange<UInt64>]
        /// The running digest after the last run: a copy of the journal with another content is left alone (rule R9).
        package let digest: UInt64

        package init(replica: ReplicaID, runs: [ClosedRange<UInt64>], digest: UInt64) {
            self.replica = replica
            self.runs = runs
            self.digest = digest
        }
    }

    /// Of each journal, how far the replicas of the roster all said to hold it: for one of them where it said that it
    /// holds the tombstones, for a replica that was taken off the roster what still counts of it. Ascending by replica.
    package let bounds: [Position]
    /// The roster. Ascending.
    package let members: [ReplicaID]
    /// Ascending by replica.
    package let journals: [Journal]

    package init(bounds: [Position], members: [ReplicaID], journals: [Journal]) {
        self.bounds = bounds
        self.members = members
        self.journals = journals
    }
}
