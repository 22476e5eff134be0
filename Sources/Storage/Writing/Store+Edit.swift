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

/// What an edit wants to be known of its item, by the transaction that makes it.
package enum ItemRequirement: Sendable {
    case none
    /// Something is known, be it that it was removed.
    case known
    /// Nothing is known: whoever makes it is the first here.
    case new
}

/// What `Store.edit` did with a batch.
package struct EditResult: Sendable {
    /// Nil when every edit was refused.
    package let commit: Commit?
    /// One per edit: nil when it was made.
    package let refusals: [EditRefusal?]
    /// Whether somebody may have signed the job, or the office may have closed it, so that what was written shows as an
    /// amendment: `Overlay` tells for sure.
    package let mayAmend: Bool
}

extension Store {
    /// Makes edits in one transaction, durably; an edit that is refused leaves the others alone.
    ///
    /// - Parameters:
    ///   - job: an existing job, or a new one if `createsJob`.
    ///   - requirement: what has to be known of the items before; other edits are refused.
    ///   - isAllOrNothing: a refusal undoes the others too, and is thrown.
    ///   - now: corrected time. Without a server behind it the edits are re-stamped when it is learned (rule R5). It is
    ///     read in the transaction, so that an edit and its stamp are on the same side of a step of the clock.
    ///   - writer: who makes them: whoever has begun a session is named; nil for nobody.
    package func edit(
        job: JobID, createsJob: Bool = false, requires requirement: ItemRequirement = .none,
        isAllOrNothing: Bool = false,
        now: @escaping @Sendable () -> ReceiveTime, by writer: Writer? = nil, _ edits: [Edit]
    ) async throws -> EditResult {
        let isLong = edits.count > Self.fewEdits
        return try await write(to: job, entersJob: createsJob, isLong: isLong, now: now, by: writer) { transaction in
            let result = try transaction.make(edits, requires: requirement)
            // Thrown in here, so that the rest is taken back with it.
            if isAllOrNothing, let refusal = result.refusals.compactMap({ $0 }).first { throw refusal }
            return result
        }
    }

    /// More of them, as of an import, hold up whoever shares their transaction.
    static let fewEdits = 50
}

extension JobTransaction {
    /// Makes edits, in their order; one that is refused leaves the others alone.
    mutating func make(_ edits: [Edit], requires requirement: ItemRequirement = .none) throws -> EditResult {
        if try job.isRemoved() { throw StoreError.removedJob(id) }
        let own = own
        let head = try own.head()
        let anchor = try job.anchor()
        var bytes = try preamble(before: head, anchor: anchor)
        let preambleBytes = bytes.count
        var refusals: [EditRefusal?] = []
        var states: [ItemID: ItemState] = [:]
        var read = KnownItems()
        for edit in edits {
            let known = try states[edit.item] ?? read.state(of: edit.item, in: job)
            var state = known ?? ItemState()
            do throws(EditRefusal) {
                switch requirement {
                case .none: break
                case .known: if known == nil { throw .unknown(edit.item) }
                // What this batch itself has made is new still.
                case .new: if known != nil, states[edit.item] == nil { throw .known(edit.item) }
                }
                let operations = try edit.composed(on: state, by: own.replica)
                let stamp = stamp(after: state.latestStamp)
                let change = Change(item: edit.item, stamp: stamp, anchor: anchor, operations: operations)
                bytes += ChangeCodec.encode(change)
                state.apply(change, in: own.replica)
                states[edit.item] = state
                refusals.append(nil)
            } catch {
                refusals.append(error)
            }
        }
        guard bytes.count > preambleBytes else { return EditResult(commit: nil, refusals: refusals, mayAmend: false) }
        try append(bytes, after: head, knowing: read)
        let mayAmend = try states.keys.contains { $0 != .job } && job.mayBeClosed()
        return EditResult(commit: said, refusals: refusals, mayAmend: mayAmend)
    }
}
