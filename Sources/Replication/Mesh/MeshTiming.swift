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
    /// Before a new link carries anything, for so long its ends try to settle on one time.
    package var settleLimit: UInt64 = 2_000
    /// How long a new link's end waits before it asks for the time again, as long as the two clocks are not settled.
    package var settleInterval: UInt64 = 100
    /// How often an established link is pinged; any other is closed so long after it was opened or last pinged.
    package var pingInterval: UInt64 = 15_000
    /// A link on which nothing was heard for so long is closed.
    package var silenceLimit: UInt64 = 40_000
    /// The same for a link that was asked for a sign of life, because its peer has dialled anew or moved.
    package var suspicionLimit: UInt64 = 2_000
    /// The same after the laptop was asleep.
    package var resumeLimit: UInt64 = 1_000
    /// A peer that owes an answer is asked for a sign of life when there was none for so long …
    package var awaitedProbeDelay: UInt64 = 1_500
    /// … and its link is closed when there was none for so long.
    package var awaitedSilenceLimit: UInt64 = 4_500
    /// So long after it was last sent something to answer; then it may well be there and have a disk that is full.
    package var awaitedPeriod: UInt64 = 15_000

    /// Begins with the figures that the daemon goes by.
    package init() {}
}
