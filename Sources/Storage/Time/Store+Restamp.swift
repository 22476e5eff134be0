package import CRDT
import GRDB
import Inventory
import Synchronization
package import Timekeeping

/// This store's journal of a job after its unseen work was stamped anew.
package struct Restamped: Hashable, Sendable {
    /// The job in which this store had unseen work.
    package let job: JobID
    /// Under which name it was written; the store may have another one by now.
    package let replica: ReplicaID
    /// Where the journal ends now: at the sequence of before, with the digest of the stamps that it has now.
    package let head: JournalHead

    /// Names where a journal ends once the step is durable.
    package init(job: JobID, replica: ReplicaID, head: JournalHead) {
        self.job = job
        self.replica = replica
        self.head = head
    }
}

/// A step of the clock.
package struct ClockStep: Hashable, Sendable {
    /// By how much corrected time has stepped: back when it is negative; 0 shifts nothing.
    package let milliseconds: Int64
    /// The time after the step. With a server behind it nothing is stamped again later.
    package let now: ReceiveTime
    /// Kept in the same transaction, so that a step is never taken twice.
    package let record: ClockRecord?

    /// Takes nil for a record when the clock has nothing to keep.
    package init(milliseconds: Int64, now: ReceiveTime, record: ClockRecord? = nil) {
        self.milliseconds = milliseconds
        self.now = now
        self.record = record
    }
}

/// A step that the clock has taken, as long as it is not durable.
package struct TakenStep: Sendable {
    let step: ClockStep
    /// Takes the step back; called when it could not be made durable.
    let undo: @Sendable () -> Void

    /// Takes what leads the clock back to where it was before the step.
    package init(_ step: ClockStep, undo: @escaping @Sendable () -> Void = {}) {
        self.step = step
        self.undo = undo
    }
}

/// Work that was written without a known time and has left the device to nobody (rule R5).
extension Store {
    /// Has a clock told that work which was stamped by it is being shown to somebody; it then only moves on (rule R5). This
    /// happens in the transaction itself, so that no step of the clock comes between.
    ///
    /// - Parameter note: gives what is to be kept of that, in the same transaction.
    package func whenShown(_ note: @escaping @Sendable () -> ClockRecord?) {
        shown.withLock { $0 = ShownNote(record: note) }
    }

    fileprivate func noteShown(in db: Database) throws {
        if let record = shown.withLock({ $0 })?.record() { try Self.keep(record, in: db) }
    }

    /// From now on a connection may carry work away: when this returns, what was unseen durably counts as seen.
    ///
    /// Also when it throws, what is written counts as seen until `endExposure`: another link may be exposed by then.
    package func beginExposure() async throws {
        isExposed.withLock { $0 = true }
        let isUnseen = try await write { db in
            try Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM unseen)")) ?? false
        }
        guard isUnseen else { return }
        try await write { [self] db in
            try noteShown(in: db)
            try db.execute(sql: "DELETE FROM unseen")
        }
    }

    /// No connection is left.
    package func endExposure() {
        isExposed.withLock { $0 = false }
    }

    /// The clock was found to be wrong by a step: stamps unseen work as if it had been right, in its order.
    ///
    /// Nothing falls behind what its item held when it was written, and nothing comes to lie in the future.
    /// - Parameters:
    ///   - take: lets the clock step, here between two writes: what was written before it is shifted, what is written
    ///     after it has the new time. Nil when there is nothing to do after all.
    /// - Returns: where there was unseen work, also where the step is none.
    package func restamp(
        taking take: @escaping @Sendable () -> TakenStep?
    ) async throws -> [Restamped] {
        try await write { [self] db in
            let stamps = clock.withLock { $0 }
            guard let taken = take() else { return [] }
            commits.effects.add(onUndo: { [self] in
                clock.withLock { $0 = stamps }
                taken.undo()
            })
            return try restamp(by: taken.step, in: db)
        }
    }

    private func restamp(by step: ClockStep, in db: Database) throws -> [Restamped] {
        let rows = try Row.fetchAll(db.cachedStatement(sql: "SELECT job, first FROM unseen ORDER BY job"))
        let restamped = try rows.compactMap { row in
            try restamp(
                JobRows(row["job"], in: db), from: UInt64(bitPattern: row["first"]), by: step.milliseconds,
                until: step.now.milliseconds)
        }
        if step.now.isSynchronised { try db.execute(sql: "DELETE FROM unseen") }
        if let record = step.record { try Self.keep(record, in: db) }
        return restamped.sorted { $0.job < $1.job }
    }

    private func restamp(
        _ job: JobRows, from first: UInt64, by step: Int64, until now: UInt64
    ) throws -> Restamped? {
        let journal = job.journal(of: writingIdentity.replica)
        let known = try journal.head()
        guard first > 0, known.sequence >= first else { return nil }
        guard step != 0 else {
            return try job.id().map { Restamped(job: $0, replica: journal.replica, head: known) }
        }
        let id = try job.id()
        let seal = { [self] (head: JournalHead) in try id.flatMap { try self.seal(head, of: $0) } }
        let unseen = try journal.cut(after: first - 1, seal: seal)
        let base = try journal.head()
        try job.rebuildItems()
        var states: [ItemID: ItemState] = [:]
        /// Of each item, the latest stamp before the step.
        var former: [ItemID: Stamp] = [:]
        // They are issued once more, as if their times had been known: what was credible then leads on what came after.
        var issuer = HybridLogicalClock()
        var time: UInt64 = 0
        var bytes: [UInt8] = []
        for (var change, latest) in zip(unseen.map(\.change), Self.times(of: unseen, movedBy: step, until: now)) {
            var state = try states[change.item] ?? job.item(change.item) ?? ItemState()
            let before = former[change.item] ?? state.latestStamp
            former[change.item] = max(before, change.stamp)
            // What is only issued again keeps the stamp of who wrote it first.
            if change.origin == nil {
                // What had to follow its item does so still: that was not the old time, and the step is not its error.
                if change.stamp != before.next { time = latest }
                // Who is there is looked up by stamps: whatever stands in the job, its own are the clock's.
                let isPerson = change.workSessionText(in: journal.replica) != nil
                change.stamp = issuer.tick(nowMilliseconds: time, after: isPerson ? .zero : state.latestStamp)
            }
            bytes += ChangeCodec.encode(change)
            state.apply(change, in: journal.replica)
            states[change.item] = state
        }
        let head = try JournalWriter(journal: journal, received: nil, seal: seal)
            .apply(bytes, first: first, after: base).head
        try journal.notePeopleAgain()
        // Stamps may have become less, which the head's upsert does not know.
        var latest = Stamp.zero
        try job.forEachChange(of: journal.replica) { latest = max(latest, $0.change.stamp) }
        try job.db.cachedStatement(sql: "UPDATE journal SET stamp = ? WHERE job = ? AND replica = ?").execute(
            arguments: [
                latest.rawValue.signed, job.number, journal.replica.value.blob,
            ])
        let greatest = try Self.greatestStamp(in: job.db)
        clock.withLock { $0 = HybridLogicalClock(latest: greatest) }
        return try job.id().map { Restamped(job: $0, replica: journal.replica, head: head) }
    }

    /// When each was written at the latest: by its own stamp, and before what was written after it, whatever the clock of
    /// an earlier boot said.
    private static func times(of unseen: [DottedChange], movedBy step: Int64, until now: UInt64) -> [UInt64] {
        var latest = now
        let backwards = unseen.reversed().map { entry in
            if entry.change.origin == nil { latest = min(latest, entry.change.stamp.milliseconds(moved: step)) }
            return latest
        }
        return backwards.reversed()
    }

    /// The greatest credible stamp of all journals.
    static func greatestStamp(in db: Database) throws -> Stamp {
        let stamp = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(stamp) FROM journal WHERE stamp BETWEEN 0 AND ?"),
            arguments: [Stamp.observable.rawValue.signed - 1])
        return stamp.map { Stamp(rawValue: UInt64(bitPattern: $0)) } ?? .zero
    }
}

extension JobTransaction {
    /// Remembers where unseen work begins, in the transaction that writes it.
    func noteUnseen(from first: UInt64) throws {
        if now.isSynchronised {
            try RawStatement("DELETE FROM unseen WHERE job = ?", in: db).run(.number(job.number))
        } else if store.isExposed.withLock({ $0 }) {
            try store.noteShown(in: db)
        } else {
            try RawStatement("INSERT INTO unseen (job, first) VALUES (?, ?) ON CONFLICT DO NOTHING", in: db)
                .run(.number(job.number), .number(first.signed))
        }
    }
}

extension Stamp {
    /// Its time after a step, as far as any clock starts from that.
    fileprivate func milliseconds(moved step: Int64) -> UInt64 {
        let moved = Int64(clamping: milliseconds).addingReportingOverflow(step)
        return UInt64(min(max(moved.overflow ? 0 : moved.partialValue, 0), Int64(Stamp.observable.milliseconds)))
    }
}
