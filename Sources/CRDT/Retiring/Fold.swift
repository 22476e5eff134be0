/// Which removed items are forgotten, with which transforms, and what everybody held when that was decided (rule R10).
///
/// The items are named so that they stay away whatever comes (rule R2): the rest of the fold may leave out what somebody
/// wrote on them, by mistake or by malice, and nobody could tell who has not got it yet.
package struct Fold: Hashable, Sendable {
    /// Whole changes that follow each other in a journal.
    package struct Run: Hashable, Sendable {
        /// The sequences of their transforms.
        package let span: ClosedRange<UInt64>
        /// The running digest after the last one: a copy of the journal with another content is left alone (rule R9).
        package let digest: UInt64

        package init(_ span: ClosedRange<UInt64>, digest: UInt64) {
            self.span = span
            self.digest = digest
        }
    }

    /// What is folded of one journal.
    package struct Journal: Hashable, Sendable {
        package let replica: ReplicaID
        /// Ascending, at least one.
        package let runs: [Run]

        package init(replica: ReplicaID, runs: [Run]) {
            self.replica = replica
            self.runs = runs
        }
    }

    /// Of each journal, how far the replicas of the roster all said to hold it: for one of them where it said that it
    /// holds the tombstones, for a replica that was taken off the roster what still counts of it. Ascending by replica.
    package let bounds: [Position]
    /// The roster. Ascending.
    package let members: [ReplicaID]
    /// What is forgotten: nothing counts any more that was written or will be written on these. Ascending.
    package let items: [ItemID]
    /// Ascending by replica.
    package let journals: [Journal]

    package init(bounds: [Position], members: [ReplicaID], items: [ItemID], journals: [Journal]) {
        self.bounds = bounds
        self.members = members
        self.items = items
        self.journals = journals
    }
}
