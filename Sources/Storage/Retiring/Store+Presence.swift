import CRDT
import GRDB
import Inventory
import Synchronization

/// What a store says of itself in its journal of a job.
extension Store {
    /// The first change of a replica in a job says which laptop it is on, for people, and what it holds.
    func introduction(
        of replica: ReplicaID, holding positions: [Position], anchor: UInt64, nowMilliseconds: UInt64
    ) -> [UInt8] {
        let stamp = clock.withLock { $0.tick(nowMilliseconds: nowMilliseconds) }
        let name = Operation.set(field: JobProperty.author(replica), value: hostName, replaces: [])
        return ChangeCodec.encode(
            Change(item: .job, stamp: stamp, anchor: anchor, operations: [name, .hold(positions)]))
    }

    /// What has to stand before the next change of this store's journal: nothing, as a rule; an introduction when it is
    /// the first; a hold when the store was away while something was cut.
    ///
    /// - Throws: `StoreError` when what is written now could not count: the job is removed, or this store is still
    ///   being told what was forgotten.
    func presence(
        in journal: JournalKey, head: JournalHead, anchor: UInt64, nowMilliseconds: UInt64, in db: Database
    ) throws -> [UInt8] {
        let isPlain = try StatementTable.isPlain(journal.job, in: db)
        if isPlain, head.sequence > 0 { return [] }
        let own = journal.replica
        var roster = Roster()
        if !isPlain {
            roster = try StatementTable.roster(of: journal.job, in: db)
            if roster.removal != nil { throw StoreError.removedJob(try JobTable.id(of: journal.job, in: db)) }
        }
        guard head.sequence == 0 || roster.lateSpans(of: own).holds(head.sequence + 1) else {
            waitingSince.withLock { $0[journal.job] = nil }
            return []
        }
        let hold = Dot(replica: own, sequence: head.sequence == 0 ? 2 : head.sequence + 1)
        let claims = try claims(in: journal, for: hold, on: roster, nowMilliseconds: nowMilliseconds, in: db)
        return head.sequence == 0
            ? introduction(of: own, holding: claims, anchor: anchor, nowMilliseconds: nowMilliseconds)
            : statement([.hold(claims)], anchor: anchor, nowMilliseconds: nowMilliseconds)
    }

    /// What a hold says after which this store's work counts.
    ///
    /// When what it may say is not enough it waits for what it lacks, but not for ever: a peer that is broken or means
    /// harm could keep a crew from working. From then on it says to hold what it has in its journals.
    private func claims(
        in journal: JournalKey, for hold: Dot, on roster: Roster, nowMilliseconds: UInt64, in db: Database
    ) throws -> [Position] {
        for isPatient in [true, false] {
            let claims = try Claims.positions(of: journal, isPatient: isPatient, in: db)
            var told = roster
            told.add(.hold(claims), at: hold)
            guard told.lateSpans(of: hold.replica).holds(hold.sequence + 1) else { return claims }
            let since = waitingSince.withLock { waiting in
                let since = min(waiting[journal.job] ?? nowMilliseconds, nowMilliseconds)
                waiting[journal.job] = since
                return since
            }
            if isPatient, nowMilliseconds - since >= Self.patience { continue }
            break
        }
        throw StoreError(.catchingUp, try Missing(job: journal.job, in: db).sentence)
    }

    /// How long nothing is written while something is missing, in milliseconds.
    static let patience: UInt64 = 600_000

    func statement(_ operations: [CRDT.Operation], anchor: UInt64, nowMilliseconds: UInt64) -> [UInt8] {
        let stamp = clock.withLock { $0.tick(nowMilliseconds: nowMilliseconds) }
        return ChangeCodec.encode(Change(item: .job, stamp: stamp, anchor: anchor, operations: operations))
    }

    /// Appends encoded changes to this store's journal, an introduction before them if it has none.
    func append(
        _ bytes: [UInt8], job: JobID, number: Int64, now: ReceiveTime, in db: Database
    ) throws -> Commit {
        let journal = JournalKey(job: number, replica: identity.replica)
        let head = try JournalTable.head(of: journal, in: db)
        var run: [UInt8] = []
        if head.sequence == 0 {
            let claims = try Claims.positions(of: journal, in: db)
            run = introduction(
                of: journal.replica, holding: claims, anchor: try anchor(of: number, in: db),
                nowMilliseconds: now.milliseconds)
        }
        return try appendAsIs(run + bytes, after: head, job: job, number: number, now: now, in: db)
    }

    /// Appends encoded changes to this store's journal after its head, the introduction among them if it has none.
    func appendAsIs(
        _ bytes: [UInt8], after head: JournalHead, job: JobID, number: Int64, now: ReceiveTime, in db: Database
    ) throws -> Commit {
        let journal = JournalKey(job: number, replica: identity.replica)
        let reached = try JournalWriter(db: db, journal: journal, received: nil)
            .apply(bytes, first: head.sequence + 1, after: head)
        try joinLooseSegments(of: journal, after: bytes.count, in: db)
        try noteUnseen(from: head.sequence + 1, job: number, isSynchronised: now.isSynchronised, in: db)
        let segment = JournalSegment(
            replica: journal.replica, first: head.sequence + 1, head: reached.head, bytes: bytes)
        return Commit(job: job, segment: segment, applied: reached.applied)
    }

    func anchor(of job: Int64, in db: Database) throws -> UInt64 {
        try JournalTable.head(of: JournalKey(job: job, replica: .channel), in: db).sequence
    }
}

/// What a store may say to hold: of each journal what it has, but neither a removal that it keeps out of its items because
/// its time has not come, nor what reached it as a stub that no fold explains yet.
/// Whoever believes it will count on this store knowing each tombstone there.
enum Claims {
    /// Of all journals but the store's own, ascending, as many as a statement names.
    ///
    /// - Parameter isPatient: false for what is in the journals, whatever is known of it.
    static func positions(of own: JournalKey, isPatient: Bool = true, in db: Database) throws -> [Position] {
        let all = try isPatient ? all(of: own.job, in: db) : JournalTable.positions(of: own.job, in: db)
        return Array(all.filter { $0.replica != own.replica }.prefix(ChangeLimits.positions))
    }

    static func all(of job: Int64, in db: Database) throws -> [Position] {
        var limits: [ReplicaID: UInt64] = [:]
        func limit(_ replica: ReplicaID, to first: UInt64) {
            limits[replica] = min(limits[replica] ?? .max, first - 1)
        }
        for removal in try HeldTable.removals(job: job, in: db) { limit(removal.replica, to: removal.sequence) }
        let sql = "SELECT replica, min(first) AS first FROM unexplained WHERE job = ? GROUP BY replica"
        for row in try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [job]) {
            limit(ReplicaID(UInt128(blob: row["replica"])), to: UInt64(bitPattern: row["first"]))
        }
        return try JournalTable.positions(of: job, in: db).map {
            Position(replica: $0.replica, sequence: min($0.sequence, limits[$0.replica] ?? .max))
        }.filter { $0.sequence > 0 }
    }
}

extension StoreError {
    static func removedJob(_ job: JobID?) -> StoreError {
        StoreError(
            .removedJob,
            "Job \(job?.text ?? "") has been removed for good; create a new job and enter the items there.")
    }
}
