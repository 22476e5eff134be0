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
    /// there (`LostWork`), so that the outcome is as if the journal had never forked (rule R9).
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
            let lost = try LostWork(cut(forked, after: keep, in: db), of: forked, in: db)
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
            try HeldTable.hold(
                segment.bytes, first: keep + 1, beyond: now.holdLimit, of: forked, in: db)
            try StatementTable.rebuild(number, in: db)
            try Retirement(job: number, db: db).settleAnew()
            let again = try lost.sorted(staying: segment, in: db)
            return (head, try reissue(again, job: job, number: number, now: now, in: db))
        }
    }

    /// Writes what was lost again: first what was said about the job, so that what follows counts by it. Late work stands
    /// between a word by which this store takes itself off the roster and a hold by which it comes back: so it is late
    /// for everybody, whatever this store knows.
    private func reissue(
        _ lost: LostWork.Sorted, job: JobID, number: Int64, now: ReceiveTime, in db: Database
    ) throws -> Commit? {
        let own = JournalKey(job: number, replica: identity.replica)
        let base = try JournalTable.head(of: own, in: db)
        let anchor = try anchor(of: number, in: db)
        var bytes: [UInt8] = []
        var head = base
        for (part, isLate) in [(lost.statements, false), (lost.counting, false), (lost.late, true)]
        where !part.isEmpty {
            var run = try opening(in: own, head: head, anchor: anchor, nowMilliseconds: now.milliseconds, in: db)
            let known = try JournalDigest.extend(head, with: run).sequence
            let again = part.flatMap(ChangeCodec.encode)
            if isLate {
                var claims = try Claims.positions(of: own, in: db)
                // Of the server's holds only this one counts: see `StatementTable.concernsRoster`.
                if own.replica == .channel { claims.insert(Position(replica: .channel, sequence: known), at: 0) }
                let say = { self.statement([$0], anchor: anchor, nowMilliseconds: now.milliseconds) }
                run += say(.expel(own.replica, known: known)) + again + say(.hold(claims))
            } else {
                run += again
            }
            // What waited for its time goes on waiting.
            head = try JournalWriter(db: db, journal: own, received: now)
                .apply(run, first: head.sequence + 1, after: head).head
            bytes += run
        }
        guard head != base else { return nil }
        let segment = JournalSegment(replica: own.replica, first: base.sequence + 1, head: head, bytes: bytes)
        return Commit(job: job, segment: segment, applied: [])
    }

    /// What has to stand before what is re-issued. When that will be late after all, it is listed: nothing is refused here.
    private func opening(
        in own: JournalKey, head: JournalHead, anchor: UInt64, nowMilliseconds: UInt64, in db: Database
    ) throws -> [UInt8] {
        do {
            return try presence(in: own, head: head, anchor: anchor, nowMilliseconds: nowMilliseconds, in: db)
        } catch let error as StoreError where error.code == .removedJob || error.code == .catchingUp {
            guard head.sequence == 0 else { return [] }
            let claims = try Claims.positions(of: own, in: db)
            return introduction(of: own.replica, holding: claims, anchor: anchor, nowMilliseconds: nowMilliseconds)
        }
    }

    /// Removes what follows `keep`, which ends a change, and returns it.
    func cut(_ journal: JournalKey, after keep: UInt64, in db: Database) throws -> [DottedChange] {
        try HeldTable.remove(journal, after: keep, in: db)
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
                } else if scanned.stub == nil {
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
