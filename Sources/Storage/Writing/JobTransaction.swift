import CRDT
import GRDB
import Inventory
import Synchronization

/// A transaction that writes to one job: what each of its steps needs.
///
/// What it says in this store's own journal becomes one commit, of which the store tells once it is durable
/// (`Store.whenCommitted`): nobody who writes has to think of it.
struct JobTransaction {
    let store: Store
    /// By which all devices know the job.
    let id: JobID
    private(set) var job: JobRows
    /// Of this transaction: read in it, so that an edit and its stamp are on the same side of a step of the clock.
    let now: ReceiveTime
    /// What was said so far in the own journal.
    private(set) var said: Commit?
    /// Whoever makes this transaction tells the outbox of the requests in it.
    var isKnownToOutbox = false
    /// Its place among all of this store since it was opened: what came later has seen what this one did.
    let order: UInt64
    /// Nil when the program itself writes.
    private let writer: Writer?

    init(_ store: Store, id: JobID, job: JobRows, now: ReceiveTime, by writer: Writer? = nil) {
        self.writer = writer
        self.store = store
        order = store.transactions.withLock {
            $0 += 1
            return $0
        }
        self.id = id
        self.job = job
        self.now = now
    }

    var db: Database { job.db }

    /// This store's journal of the job.
    var own: JournalRows { job.journal(of: store.writingIdentity.replica) }

    /// A stamp of now, later than what was seen.
    func stamp(after seen: Stamp = .zero) -> Stamp {
        store.clock.withLock { $0.tick(nowMilliseconds: now.milliseconds, after: seen) }
    }

    // MARK: The own journal

    /// What stands before what a person writes: which laptop it is, in the first change of a replica in a job, and who is there
    /// where the journal names somebody else.
    func preamble(before head: JournalHead, anchor: UInt64) throws -> [UInt8] {
        laptopName(before: head, anchor: anchor) + (try presentPerson(anchor: anchor))
    }

    /// For people; nothing when there is one.
    func laptopName(before head: JournalHead, anchor: UInt64) -> [UInt8] {
        guard head.sequence == 0 else { return [] }
        let name = Operation.set(field: JobProperty.author(own.replica), value: store.hostName, replaces: [])
        return ChangeCodec.encode(Change(item: .job, stamp: stamp(), anchor: anchor, operations: [name]))
    }

    /// Nothing where the journal says so already, or has never said anything of people and need not.
    private func presentPerson(anchor: UInt64) throws -> [UInt8] {
        let (last, present) = (try own.lastPerson(), try writer?.user.flatMap { try Store.session(of: $0, in: db) })
        guard last != nil || present != nil else { return [] }
        let (text, stamp) = (present?.text ?? "", stamp())
        // A clock that was put right is behind what was said by it before: said again, so that stamps tell who wrote.
        if let last, last.text == text, last.stamp < stamp { return [] }
        let said = Operation.set(field: JobProperty.person(own.replica), value: text, replaces: [])
        return ChangeCodec.encode(Change(item: .job, stamp: stamp, anchor: anchor, operations: [said]))
    }

    /// Says something about the job, after a preamble if it needs one; in as many changes as it takes.
    ///
    /// - Parameters:
    ///   - seen: what it has to be later than.
    ///   - changes: encoded ones that follow, with the stamps that they have.
    @discardableResult
    mutating func say(
        _ operations: [CRDT.Operation], after seen: Stamp = .zero, then changes: [UInt8] = []
    ) throws -> Commit {
        let head = try own.head()
        let anchor = try job.anchor()
        var bytes = try preamble(before: head, anchor: anchor)
        for part in operations.cutForChanges {
            bytes += ChangeCodec.encode(
                Change(item: .job, stamp: stamp(after: seen), anchor: anchor, operations: part))
        }
        return try append(bytes + changes, after: head)
    }

    /// Appends encoded changes to the own journal after its head, the preamble among them if it has none.
    ///
    /// - Parameter known: what was read of their items in this transaction.
    @discardableResult
    mutating func append(
        _ bytes: [UInt8], after head: JournalHead, knowing known: KnownItems = KnownItems()
    ) throws -> Commit {
        let own = own
        // It would be acknowledged, and shown nowhere.
        guard try job.limits(and: own.replica)[own.replica] == nil else { throw StoreError.cutOff }
        let reached = try JournalWriter(journal: own, received: nil, seal: sealOwn, isJustSigned: true)
            .apply(bytes, first: head.sequence + 1, after: head, knowing: known)
        try store.joinLooseSegments(of: own, after: bytes.count)
        try noteUnseen(from: head.sequence + 1)
        let commit = Commit(
            job: id, segment: try signed(bytes, after: head, reached), applied: reached.applied,
            hasStatements: reached.hasStatements)
        said = said.map { $0.followed(by: commit) } ?? commit
        return commit
    }

    /// The job has got another number.
    mutating func moved(to job: JobRows) { self.job = job }
}

extension Store {
    /// Writes to a job, durably.
    ///
    /// - Parameters:
    ///   - entersJob: enters it when it is new here; else an unknown one is an error.
    ///   - isLong: see `GroupCommit`.
    ///   - now: read in the transaction.
    ///   - writer: who writes, by the Unix user of the machine (see `begin(_:of:)`), and on what terms.
    func write<Value: Sendable>(
        to job: JobID, entersJob: Bool = false, isLong: Bool = false, now: @escaping @Sendable () -> ReceiveTime,
        by writer: Writer? = nil, _ body: @escaping @Sendable (inout JobTransaction) throws -> Value
    ) async throws -> Value {
        try await write(isLong: isLong) { [self] db in
            try transact(on: job, entersJob: entersJob, now: now(), by: writer, in: db, body)
        }
    }

    /// The same within a write, for those that concern more than one job.
    func transact<Value>(
        on job: JobID, entersJob: Bool = false, now: ReceiveTime, by writer: Writer? = nil, in db: Database,
        _ body: (inout JobTransaction) throws -> Value
    ) throws -> Value {
        let rows = try entersJob ? JobRows(entering: job, in: db) : JobRows(of: job, in: db)
        var transaction = JobTransaction(self, id: job, job: rows, now: now, by: writer)
        try writer?.condition?.check(rows)
        let value = try body(&transaction)
        if let said = transaction.said {
            if let key = writer?.key { try AnswerTable(db: db).note(key, wrote: said.segment, in: said.job) }
            let note = CommittedNote(commit: said, isKnownToOutbox: transaction.isKnownToOutbox)
            commits.effects.add(onCommit: { [self] in committed.withLock { $0 }?.tell(note) }, onUndo: {})
        }
        return value
    }

    /// Reads a job.
    ///
    /// - Throws: `StoreError.Code.unknownJob` when nothing is known of it.
    func read<Value: Sendable>(
        of job: JobID, _ body: @escaping @Sendable (JobRows) throws -> Value
    ) async throws -> Value {
        try await read { db in try body(try JobRows(of: job, in: db)) }
    }

    /// Has somebody told of each commit of this store's own work, in their order, once it is durable.
    ///
    /// - Parameter listener: is called on the writer's thread, and must not wait.
    package func whenCommitted(_ listener: @escaping @Sendable (CommittedNote) -> Void) {
        committed.withLock { $0 = CommittedListener(tell: listener) }
    }

    func joinLooseSegments(of journal: JournalRows, after bytes: Int) throws {
        guard bytes <= JournalRows.smallSegmentBytes else { return }
        let key = journal.key
        let mustJoin = looseSegments.withLock { loose in
            loose[key, default: 0] += 1
            guard loose[key, default: 0] >= JournalRows.looseSegmentLimit else { return false }
            loose[key] = 0
            return true
        }
        if mustJoin { try journal.joinSmallSegments() }
    }
}

/// Own work that has become durable.
package struct CommittedNote: Sendable {
    /// What the journal now holds of it.
    package let commit: Commit
    /// The outbox is told of the requests in it by whoever wrote them.
    package let isKnownToOutbox: Bool
}

/// A struct, as `ShownNote`.
struct CommittedListener: Sendable {
    let tell: @Sendable (CommittedNote) -> Void
}

extension Commit {
    /// Two runs of one transaction as one.
    fileprivate func followed(by next: Commit) -> Commit {
        Commit(
            job: job,
            segment: JournalSegment(
                replica: segment.replica, first: segment.first, head: next.segment.head,
                bytes: segment.bytes + next.segment.bytes, signature: next.segment.signature,
                author: next.segment.author),
            applied: applied + next.applied, hasStatements: hasStatements || next.hasStatements)
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
