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
            let reissued = try reissue(branch, of: segment.replica, job: job, number: number, in: db)
            try HeldTable.hold(
                segment.bytes, first: keep + 1, beyond: now.holdLimit, of: forked, in: db)
            if let run = reissued?.segment {
                let own = JournalKey(job: number, replica: run.replica)
                try HeldTable.hold(run.bytes, first: run.first, beyond: now.holdLimit, of: own, in: db)
            }
            try rebuildItems(of: number, in: db)
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
                } else {
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
        _ branch: [Change], of replica: ReplicaID, job: JobID, number: Int64, in db: Database
    ) throws -> Commit? {
        var lost = Set(branch.map { Write($0, in: replica) })
        try Self.forEachChange(job: number, in: db) { dotted in
            lost.remove(Write(dotted.change, in: dotted.dot.replica))
        }
        let branch = branch.filter { lost.contains(Write($0, in: replica)) }
        guard !branch.isEmpty else { return nil }
        let own = JournalKey(job: number, replica: identity.replica)
        let head = try JournalTable.head(of: own, in: db)
        var bytes: [UInt8] = []
        var latest = Stamp.zero
        // Its stamp only has to be later than what was seen; no clock is asked here.
        if head.sequence == 0 { bytes += introduction(of: own.replica, anchor: 0, nowMilliseconds: 0) }
        for var change in branch {
            change.origin = change.origin ?? replica
            latest = max(latest, change.stamp)
            bytes += ChangeCodec.encode(change)
        }
        let reached = try JournalDigest.extend(head, with: bytes)
        try JournalTable.append(
            bytes[...], after: head, head: reached, latest: latest, to: own, in: db)
        let segment = JournalSegment(replica: own.replica, first: head.sequence + 1, head: reached, bytes: bytes)
        return Commit(job: job, segment: segment, applied: [])
    }

    /// Makes a job's items anew from its journals, without what is held.
    func rebuildItems(of job: Int64, in db: Database) throws {
        for table in ["item", "conflict", "barcode"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE job = ?", arguments: [job])
        }
        try db.execute(
            sql: "UPDATE job SET items = 0, removed = 0, conflicts = 0, barcodesAreIndexed = 0 WHERE number = ?",
            arguments: [job])
        var items = try ItemTable(job: job, maintainsBarcodes: false, in: db)
        let held = try HeldTable.dots(job: job, in: db)
        let rowids = try Int64.fetchAll(db, sql: "SELECT rowid FROM segment WHERE job = ?", arguments: [job])
        for rowid in rowids {
            guard
                let row = try Row.fetchOne(
                    db, sql: "SELECT replica, first, bytes FROM segment WHERE rowid = ?", arguments: [rowid])
            else { continue }
            let replica = ReplicaID(UInt128(blob: row["replica"]))
            let bytes = try row.withUnsafeData(named: "bytes") { $0.map { [UInt8]($0) } ?? [] }
            var sequence = UInt64(bitPattern: row["first"])
            var failure: (any Error)?
            try ChangeCodec.scan(bytes) { scanned, buffer in
                let dot = Dot(replica: replica, sequence: sequence)
                sequence += UInt64(scanned.operationCount)
                guard failure == nil, held.isEmpty || !held.contains(dot) else { return }
                do {
                    try items.apply(scanned, in: buffer, of: replica, sequence: dot.sequence)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        }
        try JobTable.add(items.counts, to: job, in: db)
    }
}
