package import CRDT
import GRDB

/// A change that is stamped later than any clock can have said by now (rule R6): applied like every other, and listed.
package struct FutureChange: Hashable, Sendable {
    /// The job, which is not removed.
    package let job: JobID
    /// Of its first transform.
    package let dot: Dot
    /// Who wrote it first.
    package let author: ReplicaID
    /// The item that it changes, maybe the job's own.
    package let item: ItemID
    /// Its stamp, more than `HybridLogicalClock.tolerance` ahead of the time that was asked about.
    package let stamp: Stamp
    /// Somebody else's change from the future came before it on this item: its author's own clock may well be right.
    package fileprivate(set) var isOnTop = false
}

extension Store {
    /// What is stamped beyond now and a clock's error, by job, author's journal and sequence.
    ///
    /// The greatest stamp of each journal is kept with it, so that only those which hold such changes are read.
    /// - Parameter job: of one job; nil for all of them. Of a removed job there is nothing.
    package func futureChanges(of job: JobID? = nil, nowMilliseconds: UInt64) async throws -> [FutureChange] {
        let limit = HybridLogicalClock.limit(nowMilliseconds: nowMilliseconds)
        return try await read { db in
            let number = try job.map { try JobRows(of: $0, in: db).number }
            let journals = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT job, replica FROM journal WHERE stamp > ?1 AND (?2 IS NULL OR job = ?2)
                        ORDER BY job, replica
                        """), arguments: [limit.rawValue.signed, number])
            var found: [FutureChange] = []
            for row in journals {
                let rows = JobRows(row["job"], in: db)
                guard let id = try rows.id(), try !rows.isRemoved() else { continue }
                let replica = ReplicaID(UInt128(blob: row["replica"]))
                try rows.forEachRecord(of: replica) { scanned, _, dot in
                    guard scanned.stamp > limit else { return }
                    found.append(
                        FutureChange(
                            job: id, dot: dot, author: scanned.origin ?? replica, item: scanned.item,
                            stamp: scanned.stamp))
                }
            }
            return Self.tracedBack(found)
        }
    }

    /// Who writes on top of a stamp takes the next one: the chain leads back to whose clock was wrong.
    private static func tracedBack(_ changes: [FutureChange]) -> [FutureChange] {
        struct Place: Hashable {
            let job: JobID
            let item: ItemID
            let stamp: UInt64
        }
        var roots: [Place: ReplicaID] = [:]
        var traced = changes
        for index in changes.indices.sorted(by: { changes[$0].stamp < changes[$1].stamp }) {
            let change = changes[index]
            let stamp = change.stamp.rawValue
            let root = roots[Place(job: change.job, item: change.item, stamp: stamp - 1)] ?? change.author
            traced[index].isOnTop = root != change.author
            roots[Place(job: change.job, item: change.item, stamp: stamp)] = root
        }
        return traced
    }
}
