import Authorship
import CRDT
import GRDB
import Inventory

/// Takes a run of one replica's journal into the tables, inside a transaction.
struct JournalWriter {
    /// Batches up to this size are shown to people change by change.
    static let collectedBytes = 16 << 10

    let journal: JournalRows
    /// When a peer's run comes in; nil for this store's own work.
    let received: ReceiveTime?
    /// Gives the author's signature over where a stored row ends.
    let seal: (JournalHead) throws -> JournalSignature?
    /// What is written was made and signed in this transaction: its requests need no look.
    var isJustSigned = false

    struct Reached {
        /// Where the journal stood before.
        let base: JournalHead
        let head: JournalHead
        /// Of the author over the head; nil without one, and where nothing was new.
        let signature: JournalSignature?
        /// The greatest stamp that a clock can have given by now.
        let credible: Stamp
        let applied: [AppliedChange]
        /// Statements are among what was new: see `Operation.isStatement`.
        let hasStatements: Bool
        /// What the run says of the end of its job; not judged yet, and not carried out.
        let removals: [JobRemoval]
        /// Requests in it that count for nothing.
        let forged: [MutationRequest]
    }

    /// Takes a peer's run in. What is held already is skipped; what follows must lead to the digest that the run claims.
    ///
    /// - Parameter check: throws when its author has not signed where it ends; only what was signed can show a fork.
    /// - Returns: where the journal stands then.
    /// - Throws: `NotTaken`, after which what was written has to be undone.
    func ingest(_ segment: JournalSegment, check: () throws -> Void) throws -> Reached {
        let known = try journal.head()
        if segment.first > known.sequence + 1 { throw NotTaken(.gap(known)) }
        let isBehind = segment.head.sequence <= known.sequence
        if isBehind, !segment.head.contradicts(known) { throw NotTaken(.duplicate(known)) }
        try check()
        if isBehind { throw NotTaken(.forked(known)) }
        let reached = try apply(segment.bytes, first: segment.first, after: known)
        guard reached.head == segment.head else { throw NotTaken(.forked(known)) }
        return reached
    }

    /// Applies and stores the part of `bytes` after `known`; returns where the journal then stands.
    ///
    /// Everything is applied at once, whatever its stamp says (rule R6); but in a job that is removed no item is, and nothing that
    /// lies beyond the cutoff of a revoked laptop.
    ///
    /// - Parameter read: what was read of the items in this transaction.
    func apply(
        _ bytes: [UInt8], first: UInt64, after known: JournalHead, knowing read: KnownItems = KnownItems()
    ) throws -> Reached {
        var run = Run(
            head: JournalHead(sequence: first - 1, digest: known.digest),
            credibleLimit: received.map { HybridLogicalClock.limit(nowMilliseconds: $0.milliseconds) } ?? .greatest)
        let isRemoved = try journal.job.isRemoved()
        let limits = try journal.job.limits(and: journal.replica)
        var items: ItemTable?
        try ChangeCodec.forEach(bytes) { scanned, buffer in
            let sequence = run.head.sequence + 1
            guard sequence > known.sequence else { return run.skip(scanned) }
            if scanned.item == .job, scanned.statementCount == 0 {
                try notePerson(scanned, in: buffer, at: sequence, &run)
            }
            run.add(scanned, in: buffer)
            let counts = limits.includes(Dot(replica: journal.replica, sequence: sequence), scanned)
            if items == nil {
                items = try ItemTable(
                    of: journal.job, collectsApplied: bytes.count <= Self.collectedBytes, knowing: read)
            }
            if scanned.statementCount > 0 {
                run.hasStatements = true
                let change = ChangeCodec.decode(scanned, in: buffer)
                let noted = try note(change, at: sequence, counts: counts)
                run.removals += noted.removals
                run.forged += noted.forged
                if bytes.count <= Self.collectedBytes {
                    run.told += Self.told(change.leavingOut(noted.forged), in: journal.replica, at: sequence)
                }
                if scanned.isStatementOnly { return }
            }
            guard !isRemoved || scanned.item == .job else { return }
            guard counts else { return }
            try items?.apply(scanned, in: buffer, of: journal.replica, sequence: sequence)
        }
        guard let start = run.start, var items else {
            return Reached(
                base: known, head: run.head, signature: nil, credible: run.credible, applied: [], hasStatements: false,
                removals: [], forged: [])
        }
        try items.finish()
        try journal.job.raiseAnchor(to: run.anchor)
        let signature = try journal.append(
            bytes[start...], after: known, head: run.head, latest: run.latest, seal: seal)
        if run.hasForeignPeople { try journal.notePeopleAgain() }
        let isRecounted = try limits[journal.replica] != nil && journal.job.recount(from: limits)
        return Reached(
            base: known, head: run.head, signature: signature, credible: run.credible,
            applied: isRecounted ? [] : run.told + items.applied,
            hasStatements: run.hasStatements, removals: run.removals, forged: run.forged)
    }

    /// Nothing of a run is stored, and why.
    struct NotTaken: Error {
        let result: IngestResult

        init(_ result: IngestResult) { self.result = result }

        /// For who has no results.
        var error: StoreError {
            switch result {
            case .forged(let reason), .malformed(let reason): StoreError(.falseBranch, reason)
            default: StoreError(.other, "A run of a journal does not fit what is held of it.")
            }
        }
    }

    /// What is known of a run while it is read.
    private struct Run {
        var head: JournalHead
        let credibleLimit: Stamp
        /// Where in the run that begins which is new.
        var start: Int?
        var latest = Stamp.zero
        var credible = Stamp.zero
        var anchor: UInt64 = 0
        var told: [AppliedChange] = []
        /// Of other laptops than the journal's: issued again.
        var hasForeignPeople = false
        var hasStatements = false
        var removals: [JobRemoval] = []
        var forged: [MutationRequest] = []

        mutating func skip(_ scanned: ScannedChange) {
            head = JournalHead(sequence: head.sequence + UInt64(scanned.operationCount), digest: head.digest)
        }

        mutating func add(_ scanned: ScannedChange, in buffer: UnsafeRawBufferPointer) {
            if start == nil { start = scanned.record.lowerBound }
            head = head.after(scanned, in: buffer)
            latest = max(latest, scanned.stamp)
            if scanned.stamp <= credibleLimit { credible = max(credible, scanned.stamp) }
            anchor = max(anchor, scanned.anchor)
        }
    }

    /// Notes who is at the author's laptop from a change on, if it says so.
    private func notePerson(
        _ scanned: ScannedChange, in buffer: UnsafeRawBufferPointer, at sequence: UInt64, _ run: inout Run
    ) throws {
        guard let text = ChangeCodec.decode(scanned, in: buffer).workSessionText(in: journal.replica) else { return }
        guard scanned.origin ?? journal.replica == journal.replica else {
            run.hasForeignPeople = true
            return
        }
        try journal.note(
            WorkSessionRecord(
                journal: journal.replica, author: journal.replica, sequence: sequence, stamp: scanned.stamp,
                before: max(run.latest, try journal.latestStamp()), text: text))
    }

    /// What the statements of a change say that is not only noted.
    struct Noted {
        /// By these the job ends, if who says so may.
        var removals: [JobRemoval] = []
        /// Requests that were passed over.
        var forged: [MutationRequest] = []
    }

    /// Notes the statements of a change.
    ///
    /// - Parameter counts: false beyond a cutoff, where a decision about late work is none, and no job ends.
    func note(_ change: Change, at sequence: UInt64, counts: Bool) throws -> Noted {
        let dot = Dot(replica: journal.replica, sequence: sequence)
        var noted = Noted()
        if !isJustSigned, let job = try journal.job.id() {
            noted.forged = change.forgedRequests(for: job, in: journal.replica)
        }
        try journal.job.note(change, at: dot, without: noted.forged)
        for operation in change.operations {
            switch operation {
            case .removeJob(let removal): if counts { noted.removals.append(removal) }
            case .decide(let changes): if counts { try journal.job.noteDecided(changes) }
            default: break
            }
        }
        return noted
    }

    /// A statement, if it is one that people read in the timeline: of no item's state.
    private static func told(_ change: Change, in replica: ReplicaID, at sequence: UInt64) -> [AppliedChange] {
        let dot = Dot(replica: replica, sequence: sequence)
        let entry = TimelineEntry(change, key: TimelineKey(change, at: dot), isFirst: false)
        guard !entry.decisions.isEmpty else { return [] }
        return [AppliedChange(change: change, dot: dot, before: ItemState(), after: ItemState())]
    }
}
