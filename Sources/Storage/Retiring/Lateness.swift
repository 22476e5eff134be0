import CRDT
import GRDB

/// Which changes of one journal stay out of the items while they come in, and what their statements change for the job.
///
/// A job without cuts costs one look at an index per run.
struct Lateness {
    private let journal: JournalKey
    private let db: Database
    private var roster: Roster?
    private var spans: [ClosedRange<UInt64>] = []
    private var isPlain: Bool
    private var hasStubs = false
    private var learnedCut = false
    private var hasStatements = false
    /// The mark of the roster before this run.
    private var formerMark: Int64?
    /// What was late before this run, once it has a cut.
    private var lateBefore: [ReplicaID: [ClosedRange<UInt64>]] = [:]
    private var gone: GoneTable?
    /// What the folds in this run name.
    private var newlyGone: Set<ItemID> = []

    init(_ journal: JournalKey, in db: Database) throws {
        self.journal = journal
        self.db = db
        isPlain = try StatementTable.isPlain(journal.job, in: db)
        if !isPlain { try load() }
    }

    /// Whether the change with these transforms is kept out of the items; what was written on one that is gone is noted,
    /// so that it is folded.
    func keepsOut(_ scanned: ScannedChange, _ span: ClosedRange<UInt64>) throws -> Bool {
        guard let roster, scanned.statementCount == 0 else { return false }
        if spans.holds(span.upperBound) { return true }
        // It is folded as soon as this run is in.
        if scanned.item != .job, span.upperBound <= roster.removal?[of: journal.replica] ?? 0 { return true }
        guard let gone, try gone.holds(scanned.item) else { return false }
        let dot = Dot(replica: journal.replica, sequence: span.lowerBound)
        try TombstoneTable.add(scanned.item, at: dot, job: journal.job, in: db)
        return true
    }

    /// Takes the statements of a change in, which count for what comes after it.
    mutating func note(_ change: Change, at sequence: UInt64) throws {
        let replica = journal.replica
        guard change.operations.contains(where: { StatementTable.concernsRoster($0, in: replica) }) else { return }
        if roster == nil { try load() }
        if !hasStatements {
            hasStatements = true
            formerMark = try StatementTable.mark(of: journal.job, in: db)
        }
        if !learnedCut, change.operations.contains(where: \.isCut) {
            learnedCut = true
            lateBefore = roster?.lateSpans(within: try JournalTable.positions(of: journal.job, in: db)) ?? [:]
        }
        let noted = try StatementTable.note(
            change, at: Dot(replica: journal.replica, sequence: sequence), job: journal.job, in: db)
        for (operation, dot) in noted {
            roster?.add(operation, at: dot)
            if case .fold(let fold) = operation {
                newlyGone.formUnion(fold.items.filter { $0 != .job })
                if gone == nil { gone = try GoneTable(job: journal.job, in: db) }
            }
        }
        spans = roster?.lateSpans(of: journal.replica) ?? []
    }

    mutating func noteStub(_ run: ClosedRange<UInt64>) throws {
        hasStubs = true
        try FoldingTable.noteStub(run, of: journal, in: db)
    }

    /// Once the run is stored: folds what may be folded by now, and takes late work out of the items that was no late
    /// work before.
    func settle() throws {
        if hasStatements, let roster, let mark = try StatementTable.mark(of: journal.job, in: db) {
            RosterCache.shared.keep(roster, as: mark, insteadOf: formerMark)
        }
        guard !isPlain || learnedCut || hasStubs else { return }
        if learnedCut || hasStubs { try FoldingTable.explain(journal.job, in: db) }
        let roster = try roster ?? StatementTable.roster(of: journal.job, in: db)
        let retirement = Retirement(job: journal.job, db: db)
        try retirement.settle(
            roster, lateBefore: learnedCut ? lateBefore : nil, journals: learnedCut ? nil : [journal.replica],
            gone: newlyGone)
    }

    private mutating func load() throws {
        let roster = try StatementTable.roster(of: journal.job, in: db)
        spans = roster.lateSpans(of: journal.replica)
        gone = try GoneTable(job: journal.job, in: db)
        self.roster = roster
    }
}

extension CRDT.Operation {
    /// Whether it can make work late.
    fileprivate var isCut: Bool {
        switch self {
        case .expel, .fold, .removeJob: true
        default: false
        }
    }
}
