package import CRDT

/// A request as the machine learns of it from a journal that is durable here.
package struct OutboxEntry: Hashable, Sendable {
    /// As it stands in the journal.
    package let request: MutationRequest
    /// The job whose journal it stands in.
    package let job: JobID
    /// Whose journal it stands in, and where.
    package let author: ReplicaID
    /// Of its transform in the author's journal: its place in its lane.
    package let sequence: UInt64
    /// The stamp of its change: who is the oldest across lanes. A clock that was set right may stand still for a while, and only
    /// the counter tells what was asked first.
    package let created: Stamp
    /// Asked for on this device: its people may drop it, and are told what comes of it.
    package let isOwn: Bool

    /// Takes the parts as the store reads them.
    package init(
        request: MutationRequest, job: JobID, author: ReplicaID, sequence: UInt64, created: Stamp, isOwn: Bool
    ) {
        self.request = request
        self.job = job
        self.author = author
        self.sequence = sequence
        self.created = created
        self.isOwn = isOwn
    }

    /// That of the request.
    package var token: MutationToken { request.token }
    /// The lane as people know it; each author has one of its own there.
    package var lane: LaneID { LaneID(job: job, name: request.lane) }
}
