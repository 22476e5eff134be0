import CRDT

/// What only the branch of a forked journal held that gave way: it is written again under this store's own name, with
/// its first author and stamp (rule R9).
///
/// What two copies of a store did alike at one place is two works: whether somebody did the same twice, or one work was
/// stamped anew twice, nothing tells, and a remark that stands twice is better than one that is lost.
struct BranchRebase {
    private let journal: JournalRows
    private let branch: [DottedChange]

    /// - Parameter branch: what was cut.
    init(_ branch: [DottedChange], of journal: JournalRows) {
        self.journal = journal
        self.branch = branch
    }

    /// Once the other branch is in the tables: without what another journal holds already.
    func changes() throws -> [Change] {
        guard !branch.isEmpty else { return [] }
        var lost = Set(branch.map { Work($0.change, in: journal.replica) })
        try journal.job.forEachChange { dotted in
            lost.remove(Work(dotted.change, in: dotted.dot.replica))
        }
        return branch.compactMap { dotted in
            guard lost.contains(Work(dotted.change, in: journal.replica)) else { return nil }
            var change = dotted.change
            change.origin = change.origin ?? journal.replica
            // Only the server can say these.
            change.operations.removeAll { $0.isServersWord }
            return change.operations.isEmpty ? nil : change
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
