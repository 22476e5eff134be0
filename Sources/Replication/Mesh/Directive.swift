package import CRDT
package import Timekeeping

/// What the mesh wants done. The shell carries directives out in order.
package enum Directive: Hashable, Sendable {
    /// Send a message; where the link is gone, nothing.
    case send(Message, on: LinkID)
    /// Says goodbye and closes.
    case close(LinkID, reason: String)
    /// Make a run of journal durable, then call `onPersisted`.
    case persist(JobID, JournalSegment, from: LinkID)
    /// Read a journal from a sequence on, then call `onLoaded`.
    case load(JobID, ReplicaID, from: UInt64, maximumBytes: Int, for: LinkID)
    /// Look up the change that holds a sequence, then call `onLookedUp`.
    case lookUp(JobID, ReplicaID, sequence: UInt64, Lookup)
    /// A peer may hold of this store's own journal what the mesh was not told of. Look into the store, where a commit or a
    /// step of the clock is durable a moment before the mesh hears of it; if this head is not on the journal there, call
    /// `onOwnFuture` (rule R9).
    case checkOwnJournal(JobID, VersionVector.Entry, from: LinkID)
    /// Give this name up before anything else is written, if the store still bears it; then call `onRenewed` (rule R9).
    case renewReplica(ReplicaID, reason: String)
    /// A peer's word would make this store a new replica, but it has become one a moment ago: for the log. It becomes one
    /// when the limit allows; of another device with this one's name only the next greeting tells again.
    case proofIgnored(LinkID, reason: String)
    /// Become a new device too: another machine uses this one's name.
    case renewDevice(reason: String)
    /// Cut a forked journal after a sequence, put this run in the place of what followed, re-issue that, then call
    /// `onBranchAdopted` (rule R9). A store whose own journal it is renews itself first.
    case adoptBranch(JobID, JournalSegment, after: UInt64)
    /// End a job as a peer says, then call `onJobRemoved` (rule R10). A store whose own name is in doubt by it renews itself
    /// first.
    case takeRemoval(JobID, JobRemoval, from: LinkID)
    /// Send the `pong` with this number and the corrected time. The ping came at `received` milliseconds of elapsed time.
    case answerPing(UInt64, received: UInt64, on: LinkID)
    /// A peer has told its time. Of a link that is not established yet the shell then calls `onTimeLearned`, when what it
    /// has learned is in force and this device's work may be shown (rule R5); or `onTimeUnsettled`.
    case learnTime(TimeExchange, ClockQuality, from: DeviceID, on: LinkID)
    /// A peer has proved the protocol; from now on it counts as connected.
    case established(LinkID, Hello)
    /// A peer said who it is, but another connection with it stands: this link will be closed.
    case recognised(LinkID, DeviceID)
    /// Answer a peer's question about a job.
    case report(JobID, number: UInt64, to: LinkID)
    /// A peer has answered this device's question.
    case reported(JobDigestReport, by: LinkID)
}

/// What a look-up is for.
package enum Lookup: Hashable, Sendable {
    /// A peer asked.
    case answer(to: LinkID)
    /// This side's half of a probe.
    case search
}
