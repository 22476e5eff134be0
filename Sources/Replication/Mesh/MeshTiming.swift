/// Periods of the mesh, in milliseconds.
package struct MeshTiming: Hashable, Sendable {
    /// How long an acknowledgement waits for others to go with it.
    package var acknowledgementDelay: UInt64 = 50
    /// The same for announcements on links that are not in the tree.
    package var announcementDelay: UInt64 = 250
    /// How long an announced transform may take to come along the tree before it is asked for.
    package var graftDelay: UInt64 = 150
    /// A fetch without progress for so long is tried elsewhere.
    package var fetchTimeout: UInt64 = 10_000
    /// How long a step of the search for a fork's beginning may take.
    package var searchStepTimeout: UInt64 = 2_000
    /// After a failed write of the store.
    package var storeRetryDelay: UInt64 = 5_000
    /// Within so long a peer's word does not make this store a new replica again.
    package var renewalInterval: UInt64 = 600_000
    /// Before a new link carries anything, for so long its ends try to settle on one time, and ask each other so often.
    package var settleLimit: UInt64 = 2_000
    package var settleInterval: UInt64 = 100
    package var pingInterval: UInt64 = 15_000
    /// A link on which nothing was heard for so long is closed.
    package var silenceLimit: UInt64 = 40_000
    /// The same for a link that was asked for a sign of life, because its peer has dialled anew or moved.
    package var suspicionLimit: UInt64 = 2_000

    package init() {}
}

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
    package static let streamsPerLink = 128
    /// Jobs whose difference is remembered at a time, and their journals. The others wait: nobody is refused for holding
    /// more. A peer's claims take at most 32 bytes a journal, so a link at most some 4 MiB.
    package static let openJobsPerLink = 4_096
    package static let entriesPerLink = 65_536
    /// Jobs that wait to be compared are remembered by their ids; who names more is compared once more from the beginning.
    static let waitingJobsPerLink = 65_536
    /// What a comparison may have under way.
    static let vectorsUnderWay = 64
    static let bucketsUnderWay = 16
    /// Searches for forks with one peer; others wait for the next round.
    static let searchesPerLink = 16
    /// For so many rounds a link outside the tree of a job is remembered when nothing happens in it.
    static let quietRounds = 8
    /// Questions about jobs that are being answered; each costs a walk through the job.
    package static let reportsPerLink = 8
}
