import CRDT
import GRDB

/// Ends a job in the tables, in the transaction that learns of it.
///
/// The job gets a new number. What stays is moved there; the rest is left under the old number, where nobody looks any more,
/// and freed in small steps (`Store.freeStep`). So ending a job of a million items takes as long as ending an empty one.
struct JobRemover {
    private let job: JobRows
    private var db: Database { job.db }

    init(of job: JobRows) { self.job = job }

    /// What a branch of a journal held that the remover did not know: to be written again.
    struct Removed {
        let job: JobRows
        let lost: [(journal: ReplicaID, changes: [DottedChange])]
    }

    /// - Returns: nil when nothing is new.
    func remove(_ removal: JobRemoval) throws -> Removed? {
        let known = try job.removal()
        let merged = known?.merged(with: removal) ?? removal
        guard merged != known else { return nil }
        var lost: [(journal: ReplicaID, changes: [DottedChange])] = []
        for entry in merged.heads.entries {
            let journal = job.journal(of: entry.replica)
            guard try !isBeginning(of: journal, upTo: entry.head) else { continue }
            lost.append((entry.replica, try changes(of: entry.replica)))
            // All of it is on another branch: nothing of it stays under its name.
            try db.execute(
                sql: "DELETE FROM journal WHERE job = ? AND replica = ?",
                arguments: [job.number, entry.replica.value.blob])
            try journal.forgetPeople()
        }
        let left = try move(keepingBeyond: merged.heads)
        try FormerItemTable(db: db).move(from: job.number, to: left.number, isFirst: known == nil)
        try left.setRemoval(merged)
        return Removed(job: left, lost: lost)
    }

    /// Whether what is held of a journal is the beginning of what the remover held, or goes on from there.
    ///
    /// A running digest tells nothing of the places before it, and who has removed the job has nothing left to compare with.
    /// So a store that holds less is taken to hold a beginning, unless the name was its own. Whoever wrote the other branch
    /// has the name in doubt and lists all of it; a third store that alone has such a branch frees it unlisted. To list
    /// there whatever is shorter would make late work of all that a laptop holds that is merely behind.
    private func isBeginning(of journal: JournalRows, upTo head: JournalHead) throws -> Bool {
        let known = try journal.head()
        guard known.sequence >= head.sequence else { return try !journal.isDoubtful() }
        return try journal.passes(head)
    }

    private func changes(of replica: ReplicaID) throws -> [DottedChange] {
        var changes: [DottedChange] = []
        try job.forEachChange(of: replica) { changes.append($0) }
        return changes
    }

    private func move(keepingBeyond heads: VersionVector) throws -> JobRows {
        let left = JobRows(try JobRows.nextNumber(in: db), in: db)
        try db.execute(
            sql: """
                UPDATE job SET number = ?, items = 0, removed = 0, conflicts = 0, barcodeRun = 0, barcodeCount = 0,
                    cubicFeet = 0, duplicates = 0, digestFingerprint = NULL, digest = NULL WHERE number = ?
                """, arguments: [left.number, job.number])
        if try db.tableExists("changed") {
            try db.execute(sql: "UPDATE changed SET job = ? WHERE job = ?", arguments: [left.number, job.number])
        }
        // Of people a few rows for each session: they tell whose the late work is.
        let kept = [
            "journal", "request", "outcome", "published", "accepted", "decided", "doubtful", "removal", "person",
        ]
        for table in kept {
            try db.execute(sql: "UPDATE \(table) SET job = ? WHERE job = ?", arguments: [left.number, job.number])
        }
        // Who wrote is still told by name.
        try db.execute(
            sql: "UPDATE item SET job = ? WHERE job = ? AND id = ?",
            arguments: [left.number, job.number, ItemID.job.value.blob])
        // A few rows for each laptop that takes part.
        for table in ["unseen", "known"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE job = ?", arguments: [job.number])
        }
        // Journals that the removers did not know stay whole, the others beyond what they knew.
        for entry in try left.vector().entries {
            try keep(left.journal(of: entry.replica), beyond: heads[entry.replica])
        }
        for entry in heads.entries {
            let journal = left.journal(of: entry.replica)
            guard try journal.head().sequence < entry.head.sequence else { continue }
            try journal.setHead(entry.head, latest: .zero)
        }
        try db.execute(sql: "INSERT INTO garbage (number) VALUES (?)", arguments: [job.number])
        return left
    }

    private func keep(_ journal: JournalRows, beyond head: JournalHead) throws {
        let replica = journal.replica.value.blob
        try db.execute(
            sql: "UPDATE segment SET job = ? WHERE job = ? AND replica = ? AND first > ?",
            arguments: [journal.job.number, job.number, replica, head.sequence.signed])
        // One row may hold what goes and what stays.
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT first, last, digest, signature, bytes FROM segment WHERE job = ? AND replica = ? AND last > ?
                """, arguments: [job.number, replica, head.sequence.signed])
        guard let piece = try row.map(JournalRows.Piece.init) else { return }
        var next = piece.first
        var start = 0
        try ChangeCodec.scan(piece.bytes) { scanned, _ in
            next += UInt64(scanned.operationCount)
            if next <= head.sequence + 1 { start = scanned.record.upperBound }
        }
        try journal.insert(piece.bytes[start...], after: head, head: piece.head, piece.signature)
    }
}
