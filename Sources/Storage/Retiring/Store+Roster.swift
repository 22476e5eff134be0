package import CRDT
import Foundation
import GRDB
import Synchronization

/// A replica that takes part in a job.
package struct RosterEntry: Hashable, Sendable {
    package enum Standing: String, Hashable, Sendable {
        /// It has to hold a tombstone before that is forgotten.
        case member
        /// A person took it off.
        case expelled
    }

    package let replica: ReplicaID
    package let standing: Standing
    /// The stamp of its first change that is not folded.
    package let since: Stamp
    /// The stamp of its latest change.
    package let lastSeen: Stamp
    /// How far this store holds its journal.
    package let head: UInt64
    /// What it last said to hold of the other journals, ascending by replica; nil while it has not said anything.
    package let holds: [Position]?
    /// How many transforms that this store holds it has not said to hold.
    package let missing: UInt64
    /// Its late changes that nobody has dealt with.
    package let lateChanges: Int
}

extension Store {
    /// Who takes part in a job, in order of replicas.
    package func roster(of job: JobID) async throws -> [RosterEntry] {
        try await read { db in
            let number = try JobTable.existingNumber(of: job, in: db)
            let roster = try StatementTable.roster(of: number, in: db)
            let heads = try JournalTable.positions(of: number, in: db)
            let late = try LateWork.changes(of: number, in: db)
            return try heads.filter { $0.replica != .channel }.map { head in
                let journal = JournalKey(job: number, replica: head.replica)
                let hold = roster.lastHold(of: head.replica)
                let missing = heads.reduce(UInt64(0)) { sum, other in
                    let held = other.replica == head.replica ? other.sequence : hold?.positions[of: other.replica] ?? 0
                    return sum + (other.sequence - min(held, other.sequence))
                }
                let lastSeen = try Int64.fetchOne(
                    db.cachedStatement(sql: "SELECT stamp FROM journal WHERE job = ? AND replica = ?"),
                    arguments: [number, head.replica.value.blob])
                return RosterEntry(
                    replica: head.replica, standing: roster.isExpelled(head.replica) ? .expelled : .member,
                    since: try Self.firstStamp(of: journal, in: db) ?? .zero,
                    lastSeen: Stamp(rawValue: UInt64(bitPattern: lastSeen ?? 0)), head: head.sequence,
                    holds: hold?.positions, missing: missing,
                    lateChanges: late.count { $0.dot.replica == head.replica })
            }
        }
    }

    private static func firstStamp(of journal: JournalKey, in db: Database) throws -> Stamp? {
        var stamp: Stamp?
        for piece in try JournalTable.pieces(of: journal, from: 1, maximumBytes: 1, in: db) {
            try ChangeCodec.scan(piece.bytes) { scanned, _ in
                if stamp == nil, scanned.stub == nil { stamp = scanned.stamp }
            }
        }
        return stamp
    }

    /// Takes a lost device off the roster: the others stop waiting for it, and what it wrote that this store does not
    /// hold will be late. When it comes back and learns of it, it takes part again.
    /// - Parameter now: read in the transaction, as for an edit; so it is in all that follows.
    /// - Throws: `StoreError` for a replica that is not on the roster, and for this store's own.
    package func expel(_ replica: ReplicaID, job: JobID, now: @autoclosure @escaping @Sendable () -> ReceiveTime)
        async throws -> Commit
    {
        try await write { [self] db in
            let now = now()
            let number = try JobTable.existingNumber(of: job, in: db)
            let roster = try StatementTable.roster(of: number, in: db)
            if roster.removal != nil { throw StoreError.removedJob(job) }
            let claims = try Claims.all(of: number, in: db)
            let heads = try JournalTable.positions(of: number, in: db)
            guard replica != identity.replica else {
                throw StoreError(
                    .notOnRoster, "This laptop cannot take itself off the roster; do it on another one.")
            }
            guard heads[of: replica] > 0, replica != .channel, !roster.isExpelled(replica) else {
                throw StoreError(
                    .notOnRoster, "Replica \(replica) is not on the roster; 'muster job roster' shows who is.")
            }
            let anchor = try anchor(of: number, in: db)
            let bytes = statement(
                [.expel(replica, known: claims[of: replica])], anchor: anchor, nowMilliseconds: now.milliseconds)
            return try append(bytes, job: job, number: number, now: now, in: db)
        }
    }

    /// Removes a whole job, for good: everything that this store holds of it is folded away but the job's own item,
    /// and what others wrote meanwhile is late.
    package func removeJob(_ job: JobID, now: @autoclosure @escaping @Sendable () -> ReceiveTime) async throws -> Commit
    {
        try await write { [self] db in
            let now = now()
            let number = try JobTable.existingNumber(of: job, in: db)
            if try StatementTable.roster(of: number, in: db).removal != nil { throw StoreError.removedJob(job) }
            let own = identity.replica
            let head = try JournalTable.head(of: JournalKey(job: number, replica: own), in: db).sequence
            var held = try JournalTable.positions(of: number, in: db).filter { $0.replica != own }
            // An introduction is written first if there is none; the removal itself follows.
            held.append(Position(replica: own, sequence: head == 0 ? 2 : head))
            guard held.count <= ChangeLimits.positions else {
                throw StoreError(.other, "More than \(ChangeLimits.positions) laptops wrote this job; keep it.")
            }
            let anchor = try anchor(of: number, in: db)
            let bytes = statement([.removeJob(held.sorted())], anchor: anchor, nowMilliseconds: now.milliseconds)
            return try append(bytes, job: job, number: number, now: now, in: db)
        }
    }

    /// Whether a job has been removed as a whole.
    package func isRemoved(_ job: JobID) async throws -> Bool {
        try await read { db in
            try StatementTable.isRemoved(try JobTable.existingNumber(of: job, in: db), in: db)
        }
    }

    /// One step towards forgetting what may be forgotten, for when the job is quiet: takes part in the roster, says what
    /// is held when others wait for it, or folds. Nil when there is nothing to say, which is soon the case.
    package func retire(job: JobID, now: @autoclosure @escaping @Sendable () -> ReceiveTime) async throws -> Commit? {
        try await write { [self] db in
            let now = now()
            let number = try JobTable.existingNumber(of: job, in: db)
            guard let operations = try duty(in: number, in: db) else { return nil }
            let anchor = try anchor(of: number, in: db)
            let bytes =
                operations.isEmpty
                ? [] : statement(operations, anchor: anchor, nowMilliseconds: now.milliseconds)
            return try append(bytes, job: job, number: number, now: now, in: db)
        }
    }

    /// What to say now; empty for an introduction, nil for nothing.
    private func duty(in number: Int64, in db: Database) throws -> [CRDT.Operation]? {
        let own = JournalKey(job: number, replica: identity.replica)
        let heads = try JournalTable.positions(of: number, in: db)
        let roster = try StatementTable.roster(of: number, in: db)
        guard !heads.isEmpty, roster.removal == nil else { return nil }
        let head = heads[of: own.replica]
        if head == 0 { return [] }
        let claims = try Claims.positions(of: own, in: db)
        if roster.lateSpans(of: own.replica).holds(head + 1) {
            var told = roster
            told.add(.hold(claims), at: Dot(replica: own.replica, sequence: head + 1))
            return told.lateSpans(of: own.replica).holds(head + 2) ? nil : [.hold(claims)]
        }
        let ownClaim = Position(replica: own.replica, sequence: head)
        let known = (claims + [ownClaim]).sorted()
        let duty = try roster.duty(of: own.replica, claims: known, heads: heads) { replica, limit in
            try TombstoneTable.last(of: JournalKey(job: number, replica: replica), atMost: limit, in: db)
        }
        switch duty {
        case .nothing: return nil
        case .hold: return [.hold(claims)]
        case .fold(let stability):
            // Unseen work may yet be stamped anew, for which its changes are needed; and who does not know yet what
            // was forgotten forgets nothing.
            let mustWait = try Bool.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM unseen WHERE job = ?1)
                            OR EXISTS (SELECT 1 FROM unexplained WHERE job = ?1)
                        """), arguments: [number])
            guard mustWait != true else { return nil }
            let fold = try FoldPlan.fold(stability, by: own.replica, roster: roster, job: number, in: db)
            return fold.map { [.fold($0)] }
        }
    }
}
