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
    package func renewDevice(using generator: inout some RandomNumberGenerator) async throws {
        let device = DeviceID.random(using: &generator)
        try await assume(device: device, replica: ReplicaID.random(using: &generator))
    }

    /// Whether a head shows more of this store's own journal than the store holds, or another content: the store was set
    /// back, or its name is used twice (rule R9). A journal that is not its own any more shows nothing of it.
    package func isOwnFuture(_ claimed: VersionVector.Entry, of job: JobID) async throws -> Bool {
        try await read { [self] db in
            guard claimed.replica == identity.replica, claimed.head.sequence > 0 else { return false }
            guard let number = try JobTable.number(of: job, in: db) else { return true }
            let own = JournalKey(job: number, replica: claimed.replica)
            return try !JournalTable.passes(claimed.head, of: own, in: db)
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
            try DoubtTable.add(former.replica, in: db)
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
        return try await write(isLong: true) { [self] db in
            let number = try JobTable.existingNumber(of: job, in: db)
            return try adopt(
                segment, of: job, into: JournalKey(job: number, replica: segment.replica), after: keep, now: now,
                in: db)
        }
    }

    func adopt(
        _ segment: JournalSegment, of job: JobID, into forked: JournalKey, after keep: UInt64, now: ReceiveTime,
        in db: Database
    ) throws -> AdoptedBranch {
        let lost = BranchRebase(try cut(forked, after: keep, in: db), of: forked)
        let base = try JournalTable.head(of: forked, in: db)
        let head = try JournalDigest.extend(base, with: segment.bytes)
        guard head == segment.head, base.sequence == keep else {
            throw StoreError(
                .damaged, "A peer's journal does not have the digest that it claims; nothing was changed.")
        }
        try Self.append(segment.bytes, after: base, head: head, to: forked, in: db)
        try DoubtTable.remove(forked, in: db)
        let credible = try Self.latestStamp(
            in: segment.bytes, until: HybridLogicalClock.limit(nowMilliseconds: now.milliseconds))
        clock.withLock { $0.observe(credible, nowMilliseconds: now.milliseconds) }
        let removals = try noteAgain(forked, after: keep, in: db)
        try Self.rebuildItems(of: forked.job, in: db)
        let reissued = try reissue(lost.changes(in: db), job: job, number: forked.job, now: now, in: db)
        let ended = try removals.map { try end($0, of: job, number: forked.job, now: now, in: db) }
        return AdoptedBranch(head: head, reissued: reissued, ended: ended)
    }

    /// Reads the statements of a journal again that got another content.
    ///
    /// - Returns: what they say of the end of the job.
    private func noteAgain(_ journal: JournalKey, after keep: UInt64, in db: Database) throws -> JobRemoval? {
        try RequestTable.clear(journal, after: keep, in: db)
        let writer = JournalWriter(db: db, journal: journal, received: nil)
        var removal: JobRemoval?
        var anchor: UInt64 = 0
        try Self.forEachChange(job: journal.job, of: journal.replica, in: db) { dotted in
            anchor = max(anchor, dotted.change.anchor)
            guard dotted.change.operations.contains(where: \.isStatement) else { return }
            for said in try writer.note(dotted.change, at: dotted.dot.sequence) {
                removal = removal?.merged(with: said) ?? said
            }
        }
        try writer.raiseAnchor(to: anchor)
        return removal
    }

    /// Writes what was lost again.
    func reissue(
        _ lost: [Change], job: JobID, number: Int64, now: ReceiveTime, in db: Database
    ) throws -> Commit? {
        guard !lost.isEmpty else { return nil }
        let own = JournalKey(job: number, replica: writingIdentity.replica)
        let base = try JournalTable.head(of: own, in: db)
        let anchor = try anchor(of: number, in: db)
        let bytes =
            preamble(in: own, head: base, anchor: anchor, nowMilliseconds: now.milliseconds)
            + lost.flatMap(ChangeCodec.encode)
        let reached = try JournalWriter(db: db, journal: own, received: now)
            .apply(bytes, first: base.sequence + 1, after: base)
        let segment = JournalSegment(
            replica: own.replica, first: base.sequence + 1, head: reached.head, bytes: bytes)
        return Commit(job: job, segment: segment, applied: [], hasStatements: reached.hasStatements)
    }

    private static func append(
        _ bytes: [UInt8], after base: JournalHead, head: JournalHead, to journal: JournalKey, in db: Database
    ) throws {
        let latest = try latestStamp(in: bytes, until: .greatest)
        try JournalTable.append(bytes[...], after: base, head: head, latest: latest, to: journal, in: db)
    }

    private static func latestStamp(in bytes: [UInt8], until limit: Stamp) throws(CodecError) -> Stamp {
        var latest = Stamp.zero
        try ChangeCodec.scan(bytes) { scanned, _ in
            if scanned.stamp <= limit { latest = max(latest, scanned.stamp) }
        }
        return latest
    }

    /// Removes what follows `keep`, which ends a change, and returns it.
    func cut(_ journal: JournalKey, after keep: UInt64, in db: Database) throws -> [DottedChange] {
        let pieces = try JournalTable.pieces(of: journal, from: keep + 1, maximumBytes: .max, in: db)
        guard let first = pieces.first else { return [] }
        var kept: [UInt8] = []
        var branch: [DottedChange] = []
        var latest = Stamp.zero
        for piece in pieces {
            var sequence = piece.first - 1
            try ChangeCodec.scan(piece.bytes) { scanned, buffer in
                let dot = Dot(replica: journal.replica, sequence: sequence + 1)
                sequence += UInt64(scanned.operationCount)
                if sequence <= keep {
                    kept += buffer[scanned.record]
                    latest = max(latest, scanned.stamp)
                } else {
                    branch.append(DottedChange(dot: dot, change: ChangeCodec.decode(scanned, in: buffer)))
                }
            }
        }
        let base = try JournalTable.headBefore(first.first, of: journal, in: db)
        try db.execute(
            sql: "DELETE FROM segment WHERE job = ? AND replica = ? AND last > ?",
            arguments: [journal.job, journal.replica.value.blob, base.sequence.signed])
        try JournalTable.setHead(base, latest: latest, of: journal, in: db)
        if !kept.isEmpty {
            let head = try JournalDigest.extend(base, with: kept)
            try JournalTable.append(kept[...], after: base, head: head, latest: latest, to: journal, in: db)
        }
        return branch
    }
}
