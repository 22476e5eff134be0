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
            try db.execute(
                sql: "UPDATE store SET device = ?, replica = ?",
                arguments: [renewed.device.description, renewed.replica.description])
            // Writes come one after another: the next one already sees the new name.
            currentIdentity.withLock { $0 = renewed }
            return renewed
        }
    }

    /// Gives up this store's branch of a forked journal after `keep`, and re-issues what was on it under this
    /// store's own name, with its first author and stamp, so that the outcome is as if it had never forked (rule R9).
    ///
    /// - Returns: the re-issued run, nil when the branch was empty, and where the cut journal now stands.
    package func giveUpBranch(
        of replica: ReplicaID, job: JobID, after keep: UInt64
    ) async throws -> (reissued: Commit?, head: JournalHead) {
        precondition(replica != identity.replica, "a store renews itself before it cuts its own journal")
        return try await write { [self] db in
            let number = try JobTable.existingNumber(of: job, in: db)
            let forked = JournalKey(job: number, replica: replica)
            let branch = try cut(forked, after: keep, in: db)
            let head = try JournalTable.head(of: forked, in: db)
            let reissued = try reissue(branch, of: replica, job: job, number: number, in: db)
            try rebuildItems(of: number, in: db)
            return (reissued, head)
        }
    }

    /// Removes what follows `keep`, which ends a change, and returns it.
    private func cut(_ journal: JournalKey, after keep: UInt64, in db: Database) throws -> [Change] {
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
            try JournalTable.append(kept[...], first: first.first, head: head, latest: latest, to: journal, in: db)
        }
        return branch
    }

    private func reissue(
        _ branch: [Change], of replica: ReplicaID, job: JobID, number: Int64, in db: Database
    ) throws -> Commit? {
        guard !branch.isEmpty else { return nil }
        let own = JournalKey(job: number, replica: identity.replica)
        let head = try JournalTable.head(of: own, in: db)
        var bytes: [UInt8] = []
        var latest = Stamp.zero
        for var change in branch {
            change.origin = change.origin ?? replica
            latest = max(latest, change.stamp)
            bytes += ChangeCodec.encode(change)
        }
        let reached = try JournalDigest.extend(head, with: bytes)
        try JournalTable.append(
            bytes[...], first: head.sequence + 1, head: reached, latest: latest, to: own, in: db)
        let segment = JournalSegment(replica: own.replica, first: head.sequence + 1, head: reached, bytes: bytes)
        return Commit(job: job, segment: segment)
    }

    /// Makes a job's items anew from its journals.
    private func rebuildItems(of job: Int64, in db: Database) throws {
        for table in ["item", "conflict", "barcode"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE job = ?", arguments: [job])
        }
        try db.execute(
            sql: "UPDATE job SET items = 0, removed = 0, conflicts = 0, barcodesAreIndexed = 0 WHERE number = ?",
            arguments: [job])
        var items = try ItemTable(job: job, maintainsBarcodes: false, in: db)
        let rowids = try Int64.fetchAll(db, sql: "SELECT rowid FROM segment WHERE job = ?", arguments: [job])
        for rowid in rowids {
            guard
                let row = try Row.fetchOne(
                    db, sql: "SELECT replica, bytes FROM segment WHERE rowid = ?", arguments: [rowid])
            else { continue }
            let replica = ReplicaID(UInt128(blob: row["replica"]))
            let bytes = try row.withUnsafeData(named: "bytes") { $0.map { [UInt8]($0) } ?? [] }
            var failure: (any Error)?
            try ChangeCodec.scan(bytes) { scanned, buffer in
                guard failure == nil else { return }
                do { try items.apply(scanned, in: buffer, of: replica) } catch { failure = error }
            }
            if let failure { throw failure }
        }
        try JobTable.add(items.counts, to: job, in: db)
    }
}
