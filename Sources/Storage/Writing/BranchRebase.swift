import CRDT
import Inventory

/// What only the branch of a forked journal held that gave way: it is written again under this store's own name, with
/// its first author and stamp (rule R9).
///
/// What two copies of a store did alike at one place is two works: whether somebody did the same twice, or one work was
/// stamped anew twice, nothing tells, and a remark that stands twice is better than one that is lost.
struct BranchRebase {
    private let journal: JournalRows
    private let branch: [DottedChange]
    private let limits: JournalLimits
    private let sessions: WorkSessions

    /// - Parameters:
    ///   - branch: what was cut.
    ///   - limits: what counted before it was.
    ///   - sessions: who was there when, before anything was cut.
    init(
        _ branch: [DottedChange], of journal: JournalRows, counting limits: JournalLimits, sessions: WorkSessions
    ) {
        self.limits = limits
        self.journal = journal
        self.branch = branch
        self.sessions = sessions
    }

    /// Once the other branch is in the tables: without what another journal holds already.
    ///
    /// - Parameter own: the journal in which it is issued again.
    func changes(for own: ReplicaID) throws -> [Change] {
        guard !branch.isEmpty else { return [] }
        var lost = Set(branch.map { Work($0.change, in: journal.replica) })
        let late = Set(branch.filter { !limits.includes($0) }.map { Work($0.change, in: journal.replica) })
        let present = try journal.job.limits()
        try journal.job.forEachChange { dotted in
            let work = Work(dotted.change, in: dotted.dot.replica)
            // What stands elsewhere and does not count is not there for what did.
            if present.includes(dotted) || late.contains(work) { lost.remove(work) }
        }
        var people = ReissuedPeople(of: sessions, in: own, of: sessions)
        return branch.flatMap { dotted -> [Change] in
            var change = dotted.change
            // Who was there is said where something follows.
            guard lost.contains(Work(change, in: journal.replica)),
                change.workSessionText(in: journal.replica) == nil
            else { return [] }
            change.origin = change.origin ?? journal.replica
            // Only the server can say these.
            change.operations.removeAll { $0.isServersWord }
            guard !change.operations.isEmpty else { return [] }
            if !limits.includes(dotted) { change.anchor = Change.lateAnchor }
            return [people.before(change, from: dotted.dot), change].compactMap(\.self)
        }
    }
}

extension CRDT.Operation {
    fileprivate var isServersWord: Bool {
        switch self {
        case .acknowledge, .outcome, .publish: true
        default: false
        }
    }
}
