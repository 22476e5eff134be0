package import CRDT
package import Timekeeping

// What the mesh wants done: one type for each set of things that may follow from a stimulus. The shell carries directives
// out in order.

/// What goes out on a link.
package enum LinkDirective: Hashable, Sendable {
    /// Send a message; where the link is gone, nothing.
    case send(Message, on: LinkID)
    /// Says goodbye and closes.
    case close(LinkID, reason: String)
}

/// What follows when one end of a link, or both, may show their work.
package enum GreetingDirective: Hashable, Sendable {
    case link(LinkDirective)
    /// A peer has proved the protocol; from now on it counts as connected.
    case established(LinkID, Hello)
}

/// What follows when there is room on a link.
package enum StreamDirective: Hashable, Sendable {
    case link(LinkDirective)
    /// Read a journal from a sequence on, then call `onLoaded`.
    case load(JobID, ReplicaID, from: UInt64, maximumBytes: Int, for: LinkID)
}

/// What follows when two copies of a journal may differ (rule R9).
package enum SearchDirective: Hashable, Sendable {
    case link(LinkDirective)
    /// Look up the change that holds a sequence, this side's half of a probe, then call `onLookedUp`.
    case lookUp(JobID, ReplicaID, sequence: UInt64)
    /// A peer may hold of this store's own journal what the mesh was not told of. Look into the store, where a commit or a
    /// step of the clock is durable a moment before the mesh hears of it; if this head is not on the journal there, call
    /// `onOwnClaim`.
    case checkOwnJournal(JobID, VersionVector.Entry, from: LinkID)
    /// A peer shows it. If this store's key has signed the run, and its head is not on the journal in the store, call
    /// `onOwnFuture`; if the key has not, the peer has forged it.
    case checkProof(JobID, JournalSegment, from: LinkID)
    /// A peer says that it holds this of a journal. If that stands in the store, call `onHoldingShown`.
    case checkHolding(JobID, VersionVector.Entry, from: LinkID)
    /// What a peer has passed on was altered, on its way or on its disk: for people.
    case noteAltered(JobID, by: LinkID)
}

/// What follows when this store has to give its name up, now or later (rule R9).
package enum RenewalDirective: Hashable, Sendable {
    /// Give this name up before anything else is written, if the store still bears it; then call `onRenewed`.
    case renewReplica(ReplicaID, reason: String)
    /// A peer's word would make this store a new replica, but it has become one a moment ago: for the log. It becomes one
    /// when the limit allows; of another device with this one's name only the next greeting tells again.
    case proofIgnored(LinkID, reason: String)
}

/// What may follow from `onPersisted`, `onTimer` and `onOwnFuture`.
package enum UpkeepDirective: Hashable, Sendable {
    case search(SearchDirective)
    case renewal(RenewalDirective)
}

/// What may follow from a peer's message. What goes out on a link may stand in any of three: compare `onLink`.
///
/// A message alone never renews this replica: the store is asked first.
package enum MessageDirective: Hashable, Sendable {
    case search(SearchDirective)
    case stream(StreamDirective)
    case greeting(GreetingDirective)
    /// Another device uses this one's name, and this one has got a new name a moment ago: for the log.
    case proofIgnored(LinkID, reason: String)
    /// Become a new device too: another machine uses this one's name.
    case renewDevice(reason: String)
    /// Make a run of journal durable, then call `onPersisted`.
    case persist(JobID, JournalSegment, from: LinkID)
    /// Look up the change that holds a sequence, and answer the peer's probe with it.
    case answerProbe(JobID, ReplicaID, sequence: UInt64, on: LinkID)
    /// Cut a forked journal after a sequence, put this run in the place of what followed, re-issue that, then call
    /// `onBranchAdopted` (rule R9). A store whose own journal it is renews itself first.
    case adoptBranch(JobID, JournalSegment, after: UInt64, from: LinkID)
    /// End a job as a peer says, then call `onJobRemoved` (rule R10). A store whose own name is in doubt by it renews itself
    /// first.
    case takeRemoval(JobID, JobRemoval, from: LinkID)
    /// Note that a laptop that is not on a job says that it has ended.
    case noteRefusedEnd(JobID, from: LinkID)
    /// Send the `pong` with this number and the corrected time. The ping came at `received` milliseconds of elapsed time.
    case answerPing(UInt64, received: UInt64, on: LinkID)
    /// A peer has told its time. Of a link that is not established yet the shell then calls `onTimeLearned`, when what it
    /// has learned is in force and this device's work may be shown (rule R5); or `onTimeUnsettled`.
    case learnTime(TimeExchange, ClockQuality, from: DeviceID, on: LinkID)
    /// Send all revocations that are known.
    case tellRevocations(to: LinkID)
    /// Look at revocations that a peer has sent, keep those that are signed, and call `onRevoked` for the news among them.
    case learnRevocations([[UInt8]], from: LinkID)
    /// Look at what a peer has sent of who is on jobs, keep what is signed by those who may, and call `onAssigned` for the news.
    case learnAssignments([Assignment], from: LinkID)
    /// A peer said who it is, but another connection with it stands: this link will be closed.
    case recognised(LinkID, DeviceID)
    /// Answer a peer's question about a job.
    case report(JobID, number: UInt64, to: LinkID)
    /// A peer has answered this device's question.
    case reported(JobDigestReport, by: LinkID)
}

// MARK: One within the other

/// Something may go out on a link.
package protocol LinkDirecting: Sendable {
    /// The same as one of these.
    static func link(_ directive: LinkDirective) -> Self
    /// What is to go out on a link; nil if this is something else.
    var onLink: LinkDirective? { get }
}

/// More may follow than what goes out on a link.
package protocol LinkWrapping: LinkDirecting {}

/// What follows when copies may differ may follow here, too.
package protocol SearchDirecting: LinkWrapping {
    /// The same as one of these.
    static func search(_ directive: SearchDirective) -> Self
}

extension LinkDirective: LinkDirecting {
    /// Itself.
    package static func link(_ directive: LinkDirective) -> LinkDirective { directive }
    /// Itself.
    package var onLink: LinkDirective? { self }
}

extension GreetingDirective: LinkWrapping {
    /// Nil if the peer counts as connected by it.
    package var onLink: LinkDirective? { if case .link(let directive) = self { directive } else { nil } }
}

extension StreamDirective: LinkWrapping {
    /// Nil if a journal is to be read.
    package var onLink: LinkDirective? { if case .link(let directive) = self { directive } else { nil } }
}

extension SearchDirective: SearchDirecting {
    /// Itself.
    package static func search(_ directive: SearchDirective) -> SearchDirective { directive }
    /// Nil if the store is to be asked.
    package var onLink: LinkDirective? { if case .link(let directive) = self { directive } else { nil } }
}

extension UpkeepDirective: SearchDirecting {
    /// As part of a search.
    package static func link(_ directive: LinkDirective) -> UpkeepDirective { .search(.link(directive)) }
    /// Nil if the store is to be asked, or renewed.
    package var onLink: LinkDirective? { if case .search(let directive) = self { directive.onLink } else { nil } }
}

extension MessageDirective: SearchDirecting {
    /// As part of a search.
    package static func link(_ directive: LinkDirective) -> MessageDirective { .search(.link(directive)) }
    /// Nil if more than a link is concerned.
    package var onLink: LinkDirective? {
        switch self {
        case .search(let directive): directive.onLink
        case .stream(let directive): directive.onLink
        case .greeting(let directive): directive.onLink
        default: nil
        }
    }
}

extension LinkWrapping {
    /// Send a message; where the link is gone, nothing.
    package static func send(_ message: Message, on link: LinkID) -> Self { .link(.send(message, on: link)) }

    /// Says goodbye and closes.
    package static func close(_ link: LinkID, reason: String) -> Self { .link(.close(link, reason: reason)) }
}

extension Array where Element: LinkDirecting {
    /// Takes what any stimulus may want among what this one wants.
    package init(_ directives: [LinkDirective]) {
        self = directives.map(Element.link)
    }

    /// The same, behind what stands here.
    package static func += (directives: inout [Element], more: [LinkDirective]) {
        directives.append(contentsOf: more.lazy.map(Element.link))
    }
}

extension [UpkeepDirective] {
    /// Takes a renewal, if there is to be one.
    init(_ renewal: RenewalDirective?) {
        self = renewal.map { [.renewal($0)] } ?? []
    }
}

extension Array where Element: SearchDirecting {
    /// Takes what a search wants among what this stimulus wants.
    init(_ directives: [SearchDirective]) {
        self = directives.map(Element.search)
    }

    static func += (directives: inout [Element], more: [SearchDirective]) {
        directives.append(contentsOf: more.lazy.map(Element.search))
    }
}
