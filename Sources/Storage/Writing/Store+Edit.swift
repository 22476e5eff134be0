package import CRDT
import GRDB
package import Inventory
import Synchronization

/// An edit that was made: what the journal now holds of it.
package struct Commit: Hashable, Sendable {
    /// The job whose journal has grown.
    package let job: JobID
    /// The run that was appended to this store's journal.
    package let segment: JournalSegment
    /// What it changed, if it was small enough for people to follow.
    package let applied: [AppliedChange]
    /// Statements are among it: see `Operation.isStatement`.
    package let hasStatements: Bool
}

/// What `Store.edit` did with a batch.
package struct EditResult: Sendable {
    /// Nil when every edit was refused.
    package let commit: Commit?
    /// One per edit: nil when it was made.
    package let refusals: [EditRefusal?]
}

extension Store {
    /// Makes edits in one transaction, durably; an edit that is refused leaves the others alone.
    ///
    /// - Parameters:
    ///   - job: an existing job, or a new one if `createsJob`.
    ///   - requiresItems: refuses edits of items of which nothing is known.
    ///   - isAllOrNothing: a refusal undoes the others too, and is thrown.
    ///   - now: corrected time. Without a server behind it the edits are re-stamped when it is learned (rule R5). It is
    ///     read in the transaction, so that an edit and its stamp are on the same side of a step of the clock.
    package func edit(
        job: JobID, createsJob: Bool = false, requiresItems: Bool = false, isAllOrNothing: Bool = false,
        now: @escaping @Sendable () -> ReceiveTime, _ edits: [Edit]
    ) async throws -> EditResult {
        try await write(isLong: edits.count > Self.fewEdits) { [self] db in
            let now = now()
            let number =
                createsJob ? try JobTable.numberAddingIfNew(job, in: db) : try JobTable.existingNumber(of: job, in: db)
            let result = try commit(edits, job: job, number: number, requiresItems: requiresItems, now: now, in: db)
            // Thrown in here, so that the savepoint takes the rest back.
            if isAllOrNothing, let refusal = result.refusals.compactMap({ $0 }).first { throw refusal }
            return result
        }
    }

    /// More of them, as of an import, hold up whoever shares their transaction.
    static let fewEdits = 50

    func commit(
        _ edits: [Edit], job: JobID, number: Int64, requiresItems: Bool, now: ReceiveTime, in db: Database
    ) throws -> EditResult {
        let replica = writingIdentity.replica
        if try RemovalTable.isRemoved(number, in: db) { throw StoreError.removedJob(job) }
        let journal = JournalKey(job: number, replica: replica)
        let head = try JournalTable.head(of: journal, in: db)
        let anchor = try anchor(of: number, in: db)
        var bytes = preamble(in: journal, head: head, anchor: anchor, nowMilliseconds: now.milliseconds)
        let preambleBytes = bytes.count
        var refusals: [EditRefusal?] = []
        var states: [ItemID: ItemState] = [:]
        var read = KnownItems()
        for edit in edits {
            let known = try states[edit.item] ?? read.state(of: edit.item, job: number, in: db)
            var state = known ?? ItemState()
            do throws(EditRefusal) {
                if known == nil, requiresItems { throw .unknown(edit.item) }
                let operations = try edit.composed(on: state, by: replica)
                let stamp = clock.withLock { $0.tick(nowMilliseconds: now.milliseconds, after: state.latestStamp) }
                let change = Change(item: edit.item, stamp: stamp, anchor: anchor, operations: operations)
                bytes += ChangeCodec.encode(change)
                state.apply(change, in: replica)
                states[edit.item] = state
                refusals.append(nil)
            } catch {
                refusals.append(error)
            }
        }
        guard bytes.count > preambleBytes else { return EditResult(commit: nil, refusals: refusals) }
        let commit = try appendAsIs(
            bytes, after: head, job: job, number: number, now: now, knowing: read, in: db)
        return EditResult(commit: commit, refusals: refusals)
    }
}
