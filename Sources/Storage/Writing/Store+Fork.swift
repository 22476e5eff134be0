package import CRDT
import GRDB
import Synchronization

/// What became of a forked journal.
package struct AdoptedBranch: Hashable, Sendable {
    /// Where the journal now stands.
    package let head: JournalHead
    /// What was written again; nil when there was nothing.
    package let reissued: Commit?
    /// The branch says that the job has ended, and with it the job has.
    package let ended: RemovalOutcome?
}

extension Store {
    /// Makes this store a new replica; its journals so far become somebody else's (rule R9).
    ///
    /// - Parameter former: the name that is in doubt. A store that has given it up already stays who it is.
    /// - Returns: whether it bore that name.
    @discardableResult
    package func renewReplica(
        _ former: ReplicaID, using generator: inout some RandomNumberGenerator
    ) async throws -> Bool {
        try await assume(
            device: nil, replica: ReplicaID.random(using: &generator), insteadOf: former)
    }

    /// As `renewReplica`, and the device gets a new name too: another laptop was found to use it.
    package func renewDevice(
        to device: DeviceID, using generator: inout some RandomNumberGenerator
    ) async throws {
        try await assume(device: device, replica: ReplicaID.random(using: &generator))
    }

    /// Whether a head shows more of this store's own journal than the store holds, or another content: the store was set
    /// back, or its name is used twice (rule R9). A journal that is not its own any more shows nothing of it.
    package func isOwnFuture(_ claimed: VersionVector.Entry, of job: JobID) async throws -> Bool {
        try await read { [self] db in
            guard claimed.replica == identity.replica, claimed.head.sequence > 0 else { return false }
            guard let known = try JobRows(known: job, in: db) else { return true }
            return try !known.journal(of: claimed.replica).passes(claimed.head)
        }
    }

    /// Gives the device the name that follows from its key. Its journals stay its own.
    package func setDevice(_ device: DeviceID) async throws {
        try await write { [self] db in
            let former = writingIdentity
            let named = StoreIdentity(device: device, replica: former.replica)
            try db.execute(sql: "UPDATE store SET device = ?", arguments: [device.description])
            ownName.withLock { $0.writing = named }
            commits.effects.add(
                onCommit: { [self] in ownName.withLock { $0.committed = named } },
                onUndo: { [self] in ownName.withLock { $0.writing = former } })
        }
    }

    @discardableResult
    private func assume(
        device: DeviceID?, replica: ReplicaID, insteadOf doubtful: ReplicaID? = nil
    ) async throws -> Bool {
        try await write { [self] db in
            let former = writingIdentity
            guard doubtful == nil || doubtful == former.replica else { return false }
            let renewed = StoreIdentity(device: device ?? former.device, replica: replica)
            // What was written under the old name is somebody else's now, and stays as it is.
            try db.execute(sql: "DELETE FROM unseen")
            try JournalRows.doubtAll(of: former.replica, in: db)
            // Of two laptops that share a name the other one may have written under it.
            if renewed.device == former.device { try FormerTable.add(former.replica, in: db) }
            try db.execute(
                sql: "UPDATE store SET device = ?, replica = ?",
                arguments: [renewed.device.description, renewed.replica.description])
            // Writes come one after another: the next one already has the new name, everybody else once it is durable.
            ownName.withLock { $0.writing = renewed }
            commits.effects.add(
                onCommit: { [self] in ownName.withLock { $0.committed = renewed } },
                onUndo: { [self] in ownName.withLock { $0.writing = former } })
            return true
        }
    }

    /// Puts `segment` in the place of what this store holds of a forked journal after `keep`, and re-issues what was
    /// there (`BranchRebase`), so that the outcome is as if the journal had never forked (rule R9).
    ///
    /// A store whose own journal it is becomes a new replica first.
    /// - Throws: `StoreError` or `CodecError`; `StoreError.Code.damaged` when the run does not lead to its digest.
    package func adoptBranch(
        _ segment: JournalSegment, job: JobID, after keep: UInt64, now: ReceiveTime,
        using generator: inout some RandomNumberGenerator
    ) async throws -> AdoptedBranch {
        try await renewReplica(segment.replica, using: &generator)
        return try await write(to: job, isLong: true, now: { now }) { transaction in
            try transaction.adopt(segment, after: keep)
        }
    }
}
