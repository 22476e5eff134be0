import CRDT
import GRDB

/// Ends a job in the tables, in the transaction that learns of it.
///
/// The job gets a new number. What stays is moved there; the rest is left under the old number, where nobody looks any more,
/// and freed in small steps (`Store.freeStep`). So ending a job of a million items takes as long as ending an empty one.
struct JobRemover {
    let job: Int64
    let db: Database

    /// What a branch of a journal held that the remover did not know: to be written again.
    struct Removed {
        let number: Int64
        let lost: [(journal: ReplicaID, changes: [DottedChange])]
    }

    /// - Returns: nil when nothing is new.
    func remove(_ removal: JobRemoval) throws -> Removed? {
        let known = try RemovalTable.removal(of: job, in: db)
        let merged = known?.merged(with: removal) ?? removal
        guard merged != known else { return nil }
        var lost: [(journal: ReplicaID, changes: [DottedChange])] = []
        for entry in merged.heads.entries {
            let journal = JournalKey(job: job, replica: entry.replica)
            guard try !isBeginning(of: journal, upTo: entry.head) else { continue }
            lost.append((entry.replica, try changes(of: journal)))
            // All of it is on another branch: nothing of it stays under its name.
            try db.execute(
                sql: "DELETE FROM journal WHERE job = ? AND replica = ?", arguments: [job, entry.replica.value.blob])
        }
        let number = try move(keepingBeyond: merged.heads)
        try RemovalTable.set(merged, of: number, in: db)
        return Removed(number: number, lost: lost)
    }

    /// Whether what is held of a journal is the beginning of what the remover held, or goes on from there.
    ///
    /// A running digest tells nothing of the places before it, and who has removed the job has nothing left to compare with.
    /// So a store that holds less is taken to hold a beginning, unless the name was its own. Whoever wrote the other branch
    /// has the name in doubt and lists all of it; a third store that alone has such a branch frees it unlisted. To list
    /// there whatever is shorter would make late work of all that a laptop holds that is merely behind.
    private func isBeginning(of journal: JournalKey, upTo head: JournalHead) throws -> Bool {
        let known = try JournalTable.head(of: journal, in: db)
        guard known.sequence >= head.sequence else { return try !DoubtTable.holds(journal, in: db) }
        return try JournalTable.passes(head, of: journal, in: db)
    }

    private func changes(of journal: JournalKey) throws -> [DottedChange] {
        var changes: [DottedChange] = []
        try Store.forEachChange(job: job, of: journal.replica, in: db) { changes.append($0) }
        return changes
    }

    private func move(keepingBeyond heads: VersionVector) throws -> Int64 {
        let number = try JobTable.nextNumber(in: db)
        try db.execute(
            sql: """
                UPDATE job SET number = ?, items = 0, removed = 0, conflicts = 0, barcodeRun = 0, barcodeCount = 0,
                    cubicFeet = 0, duplicates = 0, digestFingerprint = NULL, digest = NULL WHERE number = ?
                """, arguments: [number, job])
        if try db.tableExists("changed") {
            try db.execute(sql: "UPDATE changed SET job = ? WHERE job = ?", arguments: [number, job])
        }
        for table in ["journal", "request", "outcome", "published", "accepted", "decided", "doubtful", "removal"] {
            try db.execute(sql: "UPDATE \(table) SET job = ? WHERE job = ?", arguments: [number, job])
        }
        // Who wrote is still told by name.
        try db.execute(
            sql: "UPDATE item SET job = ? WHERE job = ? AND id = ?", arguments: [number, job, ItemID.job.value.blob])
        // A few rows for each laptop that takes part.
        for table in ["unseen", "known"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE job = ?", arguments: [job])
        }
        // Journals that the removers did not know stay whole, the others beyond what they knew.
        for entry in try JournalTable.vector(of: number, in: db).entries {
            try keep(JournalKey(job: number, replica: entry.replica), beyond: heads[entry.replica])
        }
        for entry in heads.entries {
            let journal = JournalKey(job: number, replica: entry.replica)
            guard try JournalTable.head(of: journal, in: db).sequence < entry.head.sequence else { continue }
            try JournalTable.setHead(entry.head, latest: .zero, of: journal, in: db)
        }
        try db.execute(sql: "INSERT INTO garbage (number) VALUES (?)", arguments: [job])
        return number
    }

    private func keep(_ journal: JournalKey, beyond head: JournalHead) throws {
        let replica = journal.replica.value.blob
        try db.execute(
            sql: "UPDATE segment SET job = ? WHERE job = ? AND replica = ? AND first > ?",
            arguments: [journal.job, job, replica, head.sequence.signed])
        // One row may hold what goes and what stays.
        let row = try Row.fetchOne(
            db, sql: "SELECT first, last, digest, bytes FROM segment WHERE job = ? AND replica = ? AND last > ?",
            arguments: [job, replica, head.sequence.signed])
        guard let row, let bytes = try row.withUnsafeData(named: "bytes", { $0.map { [UInt8]($0) } }) else { return }
        var next = UInt64(bitPattern: row["first"])
        var start = 0
        try ChangeCodec.scan(bytes) { scanned, _ in
            next += UInt64(scanned.operationCount)
            if next <= head.sequence + 1 { start = scanned.record.upperBound }
        }
        let end = JournalHead(sequence: UInt64(bitPattern: row["last"]), digest: UInt64(bitPattern: row["digest"]))
        try JournalTable.insert(bytes[start...], after: head, head: end, into: journal, in: db)
    }
}
