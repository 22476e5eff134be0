import CRDT
import GRDB

/// What only the branch of a forked journal held that gave way: it is written again under this store's own name, with
/// its first author and stamp (rule R9).
///
/// What counted counts again; what was late becomes late work again, whatever this store knows by now, and so does what
/// was done to an item that is forgotten (rule R10). Also what was done to a removed item is written again: a cut that is
/// not known yet may make that removal late.
struct LostWork {
    private let job: Int64
    private let replica: ReplicaID
    private let branch: [DottedChange]
    /// What was late while the branch was.
    private let late: [ClosedRange<UInt64>]

    /// What is to be written again.
    struct Sorted: Hashable {
        var statements: [Change] = []
        var counting: [Change] = []
        var late: [Change] = []
    }

    /// - Parameter branch: what was cut; the tables of the job still know it.
    init(_ branch: [DottedChange], of journal: JournalKey, in db: Database) throws {
        job = journal.job
        replica = journal.replica
        self.branch = branch
        late = try StatementTable.roster(of: job, in: db).lateSpans(of: replica)
    }

    /// Once the other branch is in the tables: without what another journal holds already.
    ///
    /// - Parameter staying: the beginning of the other branch.
    func sorted(staying: JournalSegment, in db: Database) throws -> Sorted {
        var lost = Set(branch.map { Write($0.change, in: replica) })
        // A store that was set back to before it learned the time has stamped the same work anew twice.
        for change in try twins(in: staying) { lost.remove(Write(change, in: replica)) }
        try Store.forEachChange(job: job, includesLate: true, in: db) { dotted in
            lost.remove(Write(dotted.change, in: dotted.dot.replica))
        }
        let gone = try GoneTable(job: job, in: db)
        var sorted = Sorted()
        for dotted in branch where lost.contains(Write(dotted.change, in: replica)) {
            var change = dotted.change
            let author = change.origin ?? replica
            change.operations.removeAll { $0.isAboutItself(of: author) }
            guard !change.operations.isEmpty else { continue }
            change.origin = author
            if change.operations.contains(where: \.isStatement) {
                sorted.statements.append(change)
            } else if try late.holds(dotted.last) || gone?.holds(change.item) ?? false {
                sorted.late.append(change)
            } else {
                sorted.counting.append(change)
            }
        }
        return sorted
    }

    /// Changes of the branch that stand in the other one at the same place, but for their stamps.
    private func twins(in staying: JournalSegment) throws -> [Change] {
        var others: [UInt64: Change] = [:]
        var sequence = staying.first
        try ChangeCodec.scan(staying.bytes) { scanned, buffer in
            if scanned.stub == nil { others[sequence] = ChangeCodec.decode(scanned, in: buffer) }
            sequence += UInt64(scanned.operationCount)
        }
        return branch.filter { dotted in
            guard let other = others[dotted.dot.sequence] else { return false }
            return other.item == dotted.change.item && other.operations == dotted.change.operations
        }.map(\.change)
    }

    /// A change by whoever wrote it first, wherever it stands.
    private struct Write: Hashable {
        let item: ItemID
        let operations: [Operation]
        let author: WriteStamp

        init(_ change: Change, in replica: ReplicaID) {
            item = change.item
            operations = change.operations
            author = change.write(in: replica)
        }
    }
}

extension CRDT.Operation {
    /// What a replica says it holds, that it leaves the roster, and what the server decided: another cannot say it.
    fileprivate func isAboutItself(of author: ReplicaID) -> Bool {
        switch self {
        case .hold, .outcome, .publish: true
        case .expel(let replica, _): replica == author
        default: false
        }
    }
}
