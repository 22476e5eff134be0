import CRDT
import GRDB
import Inventory
import Synchronization

/// How this store's own journal of a job grows.
extension Store {
    /// The first change of a replica in a job says which laptop it is on, for people; nothing when there is one.
    func preamble(
        in journal: JournalKey, head: JournalHead, anchor: UInt64, nowMilliseconds: UInt64
    ) -> [UInt8] {
        guard head.sequence == 0 else { return [] }
        let stamp = clock.withLock { $0.tick(nowMilliseconds: nowMilliseconds) }
        let name = Operation.set(field: JobProperty.author(journal.replica), value: hostName, replaces: [])
        return ChangeCodec.encode(Change(item: .job, stamp: stamp, anchor: anchor, operations: [name]))
    }

    /// Appends statements about the job, a preamble before them if it has none; in as many changes as they take.
    func say(
        _ operations: [CRDT.Operation], job: JobID, number: Int64, now: ReceiveTime, in db: Database
    ) throws -> Commit {
        let journal = JournalKey(job: number, replica: writingIdentity.replica)
        let head = try JournalTable.head(of: journal, in: db)
        let anchor = try anchor(of: number, in: db)
        var bytes = preamble(in: journal, head: head, anchor: anchor, nowMilliseconds: now.milliseconds)
        bytes += encode(operations, anchor: anchor, nowMilliseconds: now.milliseconds)
        return try appendAsIs(bytes, after: head, job: job, number: number, now: now, in: db)
    }

    /// Operations of the job itself as encoded changes, with new stamps: as many as they take.
    ///
    /// - Parameter seen: what they have to be later than.
    func encode(
        _ operations: [CRDT.Operation], anchor: UInt64, after seen: Stamp = .zero, nowMilliseconds: UInt64
    ) -> [UInt8] {
        operations.cutForChanges.flatMap { part in
            let stamp = clock.withLock { $0.tick(nowMilliseconds: nowMilliseconds, after: seen) }
            return ChangeCodec.encode(Change(item: .job, stamp: stamp, anchor: anchor, operations: part))
        }
    }

    /// Appends encoded changes to this store's journal after its head, the preamble among them if it has none.
    ///
    /// - Parameter known: what was read of their items in this transaction.
    func appendAsIs(
        _ bytes: [UInt8], after head: JournalHead, job: JobID, number: Int64, now: ReceiveTime,
        knowing known: KnownItems = KnownItems(), in db: Database
    ) throws -> Commit {
        let journal = JournalKey(job: number, replica: writingIdentity.replica)
        let reached = try JournalWriter(db: db, journal: journal, received: nil)
            .apply(bytes, first: head.sequence + 1, after: head, knowing: known)
        try joinLooseSegments(of: journal, after: bytes.count, in: db)
        try noteUnseen(from: head.sequence + 1, job: number, isSynchronised: now.isSynchronised, in: db)
        let segment = JournalSegment(
            replica: journal.replica, first: head.sequence + 1, head: reached.head, bytes: bytes)
        return Commit(
            job: job, segment: segment, applied: reached.applied, hasStatements: reached.hasStatements)
    }

    /// The highest ordering id that is held, and no less than what was seen is anchored at (rule R7).
    func anchor(of job: Int64, in db: Database) throws -> UInt64 {
        let channel = try JournalTable.head(of: JournalKey(job: job, replica: .channel), in: db).sequence
        return max(channel, try JobTable.seenAnchor(of: job, in: db))
    }
}

extension [CRDT.Operation] {
    /// Runs of them that one change takes, by their number and by their size.
    fileprivate var cutForChanges: [[CRDT.Operation]] {
        var runs: [[CRDT.Operation]] = []
        var bytes = 0
        for operation in self {
            let more = operation.roughBytes
            bytes += more
            if let last = runs.last, last.count < ChangeLimits.operations, bytes <= ChangeLimits.changeBytes / 2 {
                runs[runs.count - 1].append(operation)
            } else {
                runs.append([operation])
                bytes = more
            }
        }
        return runs
    }
}

extension CRDT.Operation {
    /// Of those of which there may be several large ones, no less than they take.
    fileprivate var roughBytes: Int {
        switch self {
        case .decide(let changes): changes.count * 8
        case .acknowledge(let positions): positions.count * 26
        case .set(let field, let value, _): field.description.utf8.count + value.utf8.count + 16
        default: 64
        }
    }
}
