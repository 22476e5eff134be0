/// Sizes of the mesh, in bytes and numbers.
package enum MeshLimits {
    /// What a fetch may have under way: bounds the receiver's memory.
    package static let fetchWindowBytes = 2 << 20
    /// So many fetches of a link have the whole window …
    static let wideFetchesPerLink = 2
    /// … and the others this much: many small journals fill one flush of a slow disk together.
    static let narrowWindowBytes = 32 << 10
    /// Runs above this are announced rather than pushed.
    package static let pushBytes = 64 << 10
    /// Together 6 MiB, below the backlog at which a transport gives a slow reader up.
    package static let fetchesPerLink = 64
    /// Journals that a peer may be sent at a time; who asks for one more is cut off.
    package static let streamsPerLink = 128
    /// Jobs whose difference is remembered at a time, and their journals. The others wait: nobody is refused for holding
    /// more. A peer's claims take at most 64 bytes a journal, so a link at most some 8 MiB.
    package static let openJobsPerLink = 4_096
    /// Journals in a link's open jobs from which on no other job is opened.
    package static let entriesPerLink = 65_536
    /// Jobs that wait to be compared are remembered by their ids; who names more is compared once more from the beginning.
    static let waitingJobsPerLink = 65_536
    /// What a comparison may have under way.
    static let vectorsUnderWay = 64
    static let bucketsUnderWay = 16
    /// Searches for forks with one peer; others wait for the next round.
    static let searchesPerLink = 16
    /// Jobs of which a peer is asked to show this store's own journal: one that it shows is enough.
    static let proofsPerLink = 1_024
    /// For so many rounds a link outside the tree of a job is remembered when nothing happens in it.
    static let quietRounds = 8
    /// Questions about jobs that are being answered; each costs a walk through the job.
    package static let reportsPerLink = 8
}
