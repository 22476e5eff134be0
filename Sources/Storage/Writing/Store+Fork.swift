package import CRDT
import GRDB
import Synchronization

extension Store {
    /// Makes this store a new replica; its journals so far become somebody else's (rule R9).
    package func renewReplica(using generator: inout some RandomNumberGenerator) async throws -> StoreIdentity {
        try await settle(
            StoreIdentity(device: identity.device, replica: ReplicaID.random(using: &generator)))
    }

    /// As `renewReplica`, and the device gets a new name too: another laptop was found to use it.
    package func renewDevice(using generator: inout some RandomNumberGenerator) async throws -> StoreIdentity {
        let device = DeviceID.random(using: &generator)
        return try await settle(StoreIdentity(device: device, replica: ReplicaID.random(using: &generator)))
    }

    private func settle(_ renewed: StoreIdentity) async throws -> StoreIdentity {
        try await write { [self] db in
            // What was written under the old name is somebody else's now, and stays as it is.
            try db.execute(sql: "DELETE FROM unseen")
            try db.execute(
                sql: "UPDATE store SET device = ?, replica = ?",
                arguments: [renewed.device.description, renewed.replica.description])
            // Writes come one after another: the next one already sees the new name, unless this is undone.
            let former = identity
            currentIdentity.withLock { $0 = renewed }
            db.afterNextTransaction(
                onCommit: { _ in }, onRollback: { _ in self.currentIdentity.withLock { $0 = former } })
            return renewed
        }
    }

    /// Puts `segment` in the place of what this store holds of a forked journal after `keep`, and re-issues what was
    /// there under this store's own name, with its first author and stamp, so that the outcome is as if the journal
    /// had never forked (rule R9). A change that another journal holds already is not re-issued again.
    ///
    /// A store whose own journal it is becomes a new replica first.
    /// - Returns: where the journal now stands, and the re-issued run if there was something to re-issue.
    /// - Throws: `StoreError` or `CodecError`; `StoreError.Code.damaged` when the run does not lead to its digest.
    package func adoptBranch(
        _ segment: JournalSegment, job: JobID, after keep: UInt64, now: ReceiveTime,
        using generator: inout some RandomNumberGenerator
    ) async throws -> (head: JournalHead, reissued: Commit?) {
        if segment.replica == identity.replica { _ = try await renewReplica(using: &generator) }
        return try await write { [self] db in
            let number = try JobTable.existingNumber(of: job, in: db)
            let forked = JournalKey(job: number, replica: segment.replica)
            let waiting = try HeldTable.items(of: forked, in: db)
            let branch = try cut(forked, after: keep, in: db)
            let base = try JournalTable.head(of: forked, in: db)
            let head = try JournalDigest.extend(base, with: segment.bytes)
            guard head == segment.head, base.sequence == keep else {
                throw StoreError(
                    .damaged, "A peer's journal does not have the digest that it claims; nothing was changed.")
            }
            var latest = Stamp.zero
            try ChangeCodec.scan(segment.bytes) { scanned, _ in latest = max(latest, scanned.stamp) }
            clock.withLock { $0.observe(latest, nowMilliseconds: now.milliseconds) }
            try JournalTable.append(
                segment.bytes[...], after: base, head: head, latest: latest, to: forked, in: db)
            let reissued = try reissue(
                branch, of: segment.replica, waiting: waiting, job: job, number: number,
                nowMilliseconds: now.milliseconds, in: db)
            try HeldTable.hold(
                segment.bytes, first: keep + 1, beyond: now.holdLimit, of: forked, in: db)
            if let run = reissued?.segment {
                let own = JournalKey(job: number, replica: run.replica)
                try HeldTable.hold(run.bytes, first: run.first, beyond: now.holdLimit, of: own, in: db)
            }
            try StatementTable.rebuild(number, in: db)
            try Retirement(job: number, db: db).settleAnew()
            return (head, reissued)
        }
    }

    /// Removes what follows `keep`, which ends a change, and returns it.
    func cut(_ journal: JournalKey, after keep: UInt64, in db: Database) throws -> [Change] {
        try HeldTable.remove(journal, after: keep, in: db)
        let pieces = try JournalTable.pieces(of: journal, from: keep + 1, maximumBytes: .max, in: db)
        guard let first = pieces.first else { return [] }
        var kept: [UInt8] = []
        var branch: [Change] = []
        var latest = Stamp.zero
        for piece in pieces {
            var sequence = piece.first - 1
            try ChangeCodec.scan(piece.bytes) { scanned, buffer in
                sequence += UInt64(scanned.operationCount)
                if sequence <= keep {
                    kept += buffer[scanned.record]
                    latest = max(latest, scanned.stamp)
                } else if scanned.stub == nil {
                    branch.append(ChangeCodec.decode(scanned, in: buffer))
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

    /// A change by whoever wrote it first, wherever it stands.
    private struct Write: Hashable {
        let item: ItemID
        let operations: [Operation]
        let author: WriteStamp

        init(_ change: Change, in replica: ReplicaID) {
            item = change.item
            operations = change.operations
            author = change.write(in: replica)
        }
    }

    private func reissue(
        _ branch: [Change], of replica: ReplicaID, waiting: Set<ItemID>, job: JobID, number: Int64,
        nowMilliseconds: UInt64, in db: Database
    ) throws -> Commit? {
        var lost = Set(branch.map { Write($0, in: replica) })
        try Self.forEachChange(job: number, includesLate: true, in: db) { dotted in
            lost.remove(Write(dotted.change, in: dotted.dot.replica))
        }
        let own = JournalKey(job: number, replica: identity.replica)
        let head = try JournalTable.head(of: own, in: db)
        let branch = try branch.compactMap { change in
            lost.contains(Write(change, in: replica))
                ? try reissuable(
                    change, isNew: head.sequence == 0 || waiting.contains(change.item), job: number, in: db) : nil
        }
        guard !branch.isEmpty else { return nil }
        var bytes: [UInt8] = []
        var latest = Stamp.zero
        for var change in branch {
            change.origin = change.origin ?? replica
            latest = max(latest, change.stamp)
            bytes += ChangeCodec.encode(change)
        }
        // After the re-issued work, which was written without knowing what is held now.
        if head.sequence == 0 {
            let claims = try Claims.positions(of: own, in: db)
            bytes += introduction(of: own.replica, holding: claims, anchor: 0, nowMilliseconds: nowMilliseconds)
        }
        let reached = try JournalDigest.extend(head, with: bytes)
        try JournalTable.append(
            bytes[...], after: head, head: reached, latest: latest, to: own, in: db)
        let segment = JournalSegment(replica: own.replica, first: head.sequence + 1, head: reached, bytes: bytes)
        return Commit(job: job, segment: segment, applied: [])
    }

    /// What of a change may be written again after what this journal's holds have promised, which is that nothing comes
    /// for a removed item (rule R10). What a replica said to hold, another cannot say.
    private func reissuable(_ change: Change, isNew: Bool, job: Int64, in db: Database) throws -> Change? {
        var change = change
        change.operations.removeAll { operation in
            if case .hold = operation { true } else { false }
        }
        if change.operations.isEmpty { return nil }
        if isNew || change.item == .job || change.operations.contains(.remove) { return change }
        if let state = try ItemTable.state(of: change.item, job: job, in: db) {
            return state.removed == nil ? change : nil
        }
        // Forgotten, or never in the items at all, being late.
        return try FoldingTable.isEmpty(job, in: db) ? change : nil
    }
}
