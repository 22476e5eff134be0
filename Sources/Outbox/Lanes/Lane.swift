package import CRDT

/// What people call a lane: the job and the lane's name, `JOB/LANE` in text.
package struct LaneID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The job that the lane belongs to.
    package let job: JobID
    /// As `JobID.isSpelling` says: 1 to 64 of `A–Z a–z 0–9 . _ -`.
    package let name: String

    /// Takes a name that is spelt as it should be; only `init(_:)` checks it.
    package init(job: JobID, name: String) {
        self.job = job
        self.name = name
    }

    /// Nil for anything but `JOB/LANE`.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let job = JobID(parts[0]), JobID.isSpelling(parts[1]) else { return nil }
        self.init(job: job, name: parts[1])
    }

    /// Orders by job, then name.
    package static func < (left: LaneID, right: LaneID) -> Bool {
        left.job == right.job ? left.name < right.name : left.job < right.job
    }

    /// `JOB/LANE`, as people type it.
    package var description: String { "\(job)/\(name)" }
}

/// What goes one after the other: the requests of one author in a lane, or one request alone.
struct LaneKey: Hashable, Comparable, Sendable {
    let id: LaneID
    let author: ReplicaID
    /// Set in concurrent lanes, and for what the server has answered and has not published yet: it holds nobody up.
    let alone: MutationToken?

    static func < (left: LaneKey, right: LaneKey) -> Bool {
        if left.id != right.id { return left.id < right.id }
        if left.author != right.author { return left.author < right.author }
        return left.alone?.value ?? 0 < right.alone?.value ?? 0
    }
}

struct Lane: Sendable {
    /// By place in the author's journal.
    struct Member: Hashable, Comparable, Sendable {
        let sequence: UInt64
        let token: MutationToken

        static func < (left: Member, right: Member) -> Bool {
            (left.sequence, left.token) < (right.sequence, right.token)
        }
    }

    let order: LaneOrder
    var members = SortedList<Member>()
    /// As which its head stands in the machine's lists of those that may go now or later.
    var candidacy = Candidacy.none

    enum Candidacy: Sendable {
        case none
        case ready(Candidate)
        case later(DueCandidate)
    }

    /// The only one that may go.
    var head: MutationToken? {
        order == .lastInFirstOut ? members.last?.token : members.first?.token
    }
}

/// The head of a lane among the others; the greatest goes first.
struct Candidate: Hashable, Comparable, Sendable {
    let priority: UInt8
    let created: Stamp
    let token: MutationToken
    let lane: LaneKey

    static func < (left: Candidate, right: Candidate) -> Bool {
        if left.priority != right.priority { return left.priority < right.priority }
        if left.created != right.created { return left.created > right.created }
        if left.token != right.token { return left.token > right.token }
        return left.lane < right.lane
    }
}

/// The head of a lane that waits; the greatest is due first.
struct DueCandidate: Hashable, Comparable, Sendable {
    let due: UInt64
    let token: MutationToken
    let lane: LaneKey

    static func < (left: DueCandidate, right: DueCandidate) -> Bool {
        if left.due != right.due { return left.due > right.due }
        if left.token != right.token { return left.token > right.token }
        return left.lane < right.lane
    }
}
