package import CRDT
import GRDB
import Synchronization

/// A change that waits for its time (rule R6).
package struct HeldChange: Hashable, Sendable {
    package let job: JobID
    /// Of its first transform.
    package let dot: Dot
    /// Who wrote it first.
    package let author: ReplicaID
    package let stamp: Stamp
    package let item: ItemID
}

/// What became of held changes.
package struct DueChanges: Hashable, Sendable {
    /// Jobs whose items have changed, ascending.
    package let jobs: [JobID]
    /// When to ask again, in milliseconds of corrected time; nil when nothing is held.
    package let nextDue: UInt64?

    package init(jobs: [JobID], nextDue: UInt64?) {
        self.jobs = jobs
        self.nextDue = nextDue
    }
}

extension Store {
    /// Takes changes whose time has come into the items.
    ///
    /// Without a server behind the clock its guess decides: what was held while the time was known stays held.
    package func applyDue(now: ReceiveTime) async throws -> DueChanges {
        let limit = now.dueLimit
        let error = now.latestMilliseconds - now.milliseconds
        let next = try await read { try HeldTable.next(in: $0) }
        guard let next, next <= limit else { return DueChanges(jobs: [], nextDue: next.map { Self.due($0, error) }) }
        return try await write { [self] db in
            let rows = try HeldTable.takeDue(until: limit, in: db)
            var jobs: [Int64] = []
            for job in Set(rows.map(\.journal.job)).sorted() {
                var items = try ItemTable(
                    job: job, maintainsBarcodes: try JobTable.areBarcodesIndexed(job, in: db), in: db)
                let late = try LateSpans(job: job, in: db)
                for row in rows where row.journal.job == job { try Self.apply(row, late: late, to: &items, in: db) }
                try JobTable.add(items.counts, to: job, in: db)
                // The vector is the same, but the items are not.
                try ReportTable.forget(job, in: db)
                jobs.append(job)
            }
            if let latest = rows.map(\.stamp).max() {
                clock.withLock { $0.observe(latest, nowMilliseconds: now.milliseconds) }
            }
            return DueChanges(
                jobs: try jobs.compactMap { try JobTable.id(of: $0, in: db) }.sorted(),
                nextDue: try HeldTable.next(in: db).map { Self.due($0, error) })
        }
    }

    /// When a stamp comes within the tolerance of a clock that may be wrong by so much.
    private static func due(_ stamp: Stamp, _ error: UInt64) -> UInt64 {
        stamp.milliseconds - min(stamp.milliseconds, HybridLogicalClock.tolerance + error)
    }

    private static func apply(
        _ row: HeldTable.Row, late: LateSpans, to items: inout ItemTable, in db: Database
    ) throws {
        try ChangeCodec.forEach(row.record) { scanned, buffer in
            let dot = Dot(replica: row.journal.replica, sequence: row.sequence)
            guard try !late.keepsOut(scanned, at: dot, job: row.journal.job, in: db) else { return }
            try items.apply(scanned, in: buffer, of: row.journal.replica, sequence: row.sequence)
        }
    }

    /// What is held, the next due first; of one job, or of all.
    package func heldChanges(job: JobID? = nil) async throws -> [HeldChange] {
        try await read { db in
            var names: [Int64: JobID] = [:]
            return try HeldTable.rows("ORDER BY stamp, job, replica, sequence", [], in: db).compactMap { row in
                let id = try names[row.journal.job] ?? JobTable.id(of: row.journal.job, in: db)
                guard let id, job == nil || id == job, let change = try ChangeCodec.decodeAll(row.record).first else {
                    return nil
                }
                names[row.journal.job] = id
                return HeldChange(
                    job: id, dot: Dot(replica: row.journal.replica, sequence: row.sequence),
                    author: change.origin ?? row.journal.replica, stamp: change.stamp, item: change.item)
            }
        }
    }
}
