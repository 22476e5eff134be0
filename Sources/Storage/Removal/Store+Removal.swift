package import CRDT
import GRDB
import Inventory
import Synchronization

/// A job that a person has removed.
package struct RemovedJob: Hashable, Sendable {
    /// The word of it, in this store's journal.
    package let commit: Commit
    /// What the end left of the job. Nothing of it is written again: the remover held no other branch.
    package let outcome: RemovalOutcome
}

/// Nothing may be added to the channel, as a part of it is missing, and what was asked for would have to be said there.
/// Nothing has changed.
package struct ChannelIsSilent: Error {}

extension RemovalOutcome {
    /// - Parameter said: the end of the channel before.
    /// - Throws: `ChannelIsSilent` when something was re-issued behind it and all that is missing there can still be brought.
    func checkSilence(of said: JournalHead, _ removal: JobRemoval) throws(ChannelIsSilent) {
        guard reissued == nil || said.sequence < removal.heads[.channel].sequence else { throw ChannelIsSilent() }
    }
}

/// A job ends as a whole (rule R10).
extension Store {
    /// Removes a whole job, for good. Everything that this store holds of it is freed, here and on every device that hears
    /// of it; what others wrote meanwhile is late work.
    ///
    /// - Parameter now: read in the transaction, as for an edit.
    /// - Throws: `StoreError` for a job that is removed already.
    package func removeJob(
        _ job: JobID, now: @autoclosure @escaping @Sendable () -> ReceiveTime, by user: Writer? = nil
    ) async throws -> RemovedJob {
        try await write(to: job, now: now, by: user) { transaction in
            let rows = transaction.job
            if try rows.isRemoved() { throw StoreError.removedJob(job) }
            let removal = JobRemoval(
                name: try Self.job(job, in: transaction.db)?.name ?? job.text, heads: try rows.countedVector())
            let commit = try transaction.say([.removeJob(removal)])
            return RemovedJob(commit: commit, outcome: try transaction.end(removal))
        }
    }

    /// Ends a job as a peer or the server says. A store whose own name is in doubt by it becomes a new replica first.
    ///
    /// - Parameter mayWrite: false for a channel of which a part may be missing.
    /// - Throws: `ChannelIsSilent` when what the job lost would have to be re-issued there, and all that is missing can still
    ///   be brought: not where a part of it went with the job.
    package func takeRemoval(
        _ removal: JobRemoval, of job: JobID, now: ReceiveTime, mayWrite: Bool = true,
        using generator: inout some RandomNumberGenerator
    ) async throws -> RemovalOutcome {
        let name = identity.replica
        if try await showsOwnFuture(removal, of: job) { try await renewReplica(name, using: &generator) }
        return try await write(to: job, entersJob: true, now: { now }) { transaction in
            let said = try transaction.job.channel.head()
            let outcome = try transaction.end(removal)
            if !mayWrite { try outcome.checkSilence(of: said, removal) }
            return outcome
        }
    }

    /// What the removers of a job held of it; nil while it lives.
    package func removal(of job: JobID) async throws -> JobRemoval? {
        try await read { db in try JobRows(known: job, in: db)?.removal() }
    }

    /// How far a job's journals are held, and how it ended.
    package func holdings(of job: JobID) async throws -> JobHoldings {
        try await read(of: job) { JobHoldings(vector: try $0.vector(), removal: try $0.removal()) }
    }

    /// Every removed job, by id.
    package func removals() async throws -> [(job: JobID, removal: JobRemoval)] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT number, id FROM job WHERE isRemoved ORDER BY id").compactMap { row in
                guard let job = JobID(row["id"] as String),
                    let removal = try JobRows(row["number"], in: db).removal()
                else { return nil }
                return (job, removal)
            }
        }
    }

    /// Whether a job has been removed as a whole.
    package func isRemoved(_ job: JobID) async throws -> Bool {
        try await read(of: job) { try $0.isRemoved() }
    }

    /// Whether a removal shows that this store has to become a new replica before it takes it (rule R9).
    package func showsOwnFuture(_ removal: JobRemoval, of job: JobID) async throws -> Bool {
        try await read { [identity] db in
            try JobRows(known: job, in: db)?.journal(of: identity.replica).isUnlike(removal) ?? false
        }
    }

    // MARK: Freeing

    /// Rows of one step: few enough that a scan or an edit that comes meanwhile does not notice.
    private static let rowsPerStep = 400
    private static let segmentsPerStep = 2
    /// Removed jobs of whose items the names are kept: what comes later is late work of long ago.
    package static let jobsWithNames = 100

    /// Frees some of what removed jobs have left.
    ///
    /// - Parameter jobs: of so many, the last that were removed, it stays known what their items were called.
    /// - Returns: false when nothing is left.
    package func freeStep(keepingNamesOf jobs: Int = jobsWithNames) async throws -> Bool {
        let isFree = try await read { db in
            try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT NOT EXISTS (SELECT 1 FROM garbage)")) ?? true
        }
        guard !isFree else { return false }
        return try await write(isLong: true) { db in
            guard let number = try Int64.fetchOne(db, sql: "SELECT min(number) FROM garbage") else { return false }
            let names = FormerItemTable(db: db)
            if try names.keeps(number, ofLast: jobs) { try names.note(Self.rowsPerStep, of: JobRows(number, in: db)) }
            for (table, key, limit) in Self.freed where try Self.free(limit, of: table, key, job: number, in: db) {
                return true
            }
            if let old = try names.oldest(beyond: jobs) {
                let isLeft = try Self.free(Self.rowsPerStep, of: "formerItem", "item", job: old, in: db)
                if !isLeft { try names.forget(old) }
                return true
            }
            try db.execute(sql: "DELETE FROM garbage WHERE number = ?", arguments: [number])
            return true
        }
    }

    /// Frees all that removed jobs have left, and gives the room back to the disk, a step at a time, so that whoever writes meanwhile
    /// does not notice.
    package func freeRemoved() async throws {
        while try await freeStep(), !Task.isCancelled { await Task.yield() }
        while try await returnFreePages(), !Task.isCancelled { await Task.yield() }
    }

    /// Deletes the first rows of a job in the order of the table's key: up to a place, which is found by counting. A list of
    /// rows in its stead makes SQLite look at every row of the job in each step (`EXPLAIN QUERY PLAN`).
    ///
    /// - Returns: whether there were any.
    private static func free(
        _ limit: Int, of table: String, _ key: String, job: Int64, in db: Database
    ) throws -> Bool {
        let last = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT \(key) FROM \(table) WHERE job = ? ORDER BY \(key) LIMIT 1 OFFSET \(limit - 1)"),
            arguments: [job])
        // Fewer are left than one step takes.
        let place = last.map { Array($0.databaseValues) } ?? []
        try db.cachedStatement(sql: deletion(from: table, key, upTo: place.count))
            .execute(arguments: StatementArguments([job.databaseValue] + place))
        return db.changesCount > 0
    }

    /// Of a job's rows up to a place, which has as many columns as the key; of all of them when it has none.
    static func deletion(from table: String, _ key: String, upTo columns: Int) -> String {
        let place = repeatElement("?", count: columns).joined(separator: ", ")
        return "DELETE FROM \(table) WHERE job = ?" + (columns == 0 ? "" : " AND (\(key)) <= (\(place))")
    }

    /// What the old number of a removed job has left: a table, its key within a job, and how many rows go at once.
    static let freed = [
        ("item", "id", rowsPerStep), ("barcode", "run, barcode, item", rowsPerStep), ("conflict", "item", rowsPerStep),
        ("segment", "replica, last", segmentsPerStep),
    ]
}

extension JobTransaction {
    /// Ends the job in the tables, under another number.
    mutating func end(_ removal: JobRemoval) throws -> RemovalOutcome {
        var reissued: Commit?
        var replaced: Set<ReplicaID> = []
        let sessions = try job.workSessions()
        if let removed = try JobRemover(of: job).remove(removal) {
            moved(to: removed.job)
            var lost: [Change] = []
            for (replica, changes) in removed.lost {
                replaced.insert(replica)
                // All of it is late, by the job's end.
                lost += try BranchRebase(
                    changes, of: job.journal(of: replica), counting: JournalLimits(), sessions: sessions
                ).changes(for: own.replica)
            }
            reissued = try reissue(lost)
        }
        return RemovalOutcome(
            removal: try job.removal() ?? removal, vector: try job.vector(), reissued: reissued,
            replaced: replaced, order: order)
    }
}

extension JournalRows {
    /// Whether a removal knows this journal, a store's own, as it is not: the store was set back, or its name is used twice.
    func isUnlike(_ removal: JobRemoval) throws -> Bool {
        let told = removal.heads[replica]
        guard replica != .channel, told.sequence > 0 else { return false }
        return try !passes(told)
    }
}

extension StoreError {
    static func removedJob(_ job: JobID?) -> StoreError {
        StoreError(
            .removedJob,
            "Job \(job?.text ?? "") has been removed for good; create a new job and enter the items there.")
    }
}
