import Authorship
import CRDT
import GRDB
import Synchronization

/// How a forked journal gets the content of the branch that stays (rule R9).
extension JobTransaction {
    /// Puts a branch in the place of what is held of its journal after `keep`, and re-issues what was there.
    ///
    /// - Throws: `StoreError.Code.falseBranch` for what is no branch of its author's, among others.
    mutating func adopt(_ segment: JournalSegment, after keep: UInt64) throws -> AdoptedBranch {
        let forked = job.journal(of: segment.replica)
        do {
            try check(IncomingRun(job: id, segment: segment), of: try vouch(for: segment))
        } catch let nothing as JournalWriter.NotTaken {
            throw nothing.error
        }
        // A peer that holds less has signed words for that, too. Honest ones show it where another was quicker.
        guard try !forked.passes(segment.head) else { throw StoreError.heldBranch }
        let sessions = try job.workSessions()
        let limits = try job.limits()
        let lost = BranchRebase(try forked.cut(after: keep), of: forked, counting: limits, sessions: sessions)
        let base = try forked.head()
        let head = try base.after(segment.bytes)
        guard head == segment.head, base.sequence == keep else {
            throw StoreError.falseBranch("does not have the digest that is claimed")
        }
        let latest = try Self.latestStamp(in: segment.bytes, until: .greatest)
        try forked.append(segment.bytes[...], after: base, head: head, latest: latest, seal: segment.seal)
        // What was kept and the run leave together: only the run's end is signed.
        guard try forked.unsignedBytes(around: keep) <= JournalSegment.longestBytes else {
            throw StoreError(.other, "A journal was forked too often at one place; it stays as it is.")
        }
        try forked.notePeopleAgain()
        try forked.endDoubt()
        let credible = try Self.latestStamp(
            in: segment.bytes, until: HybridLogicalClock.limit(nowMilliseconds: now.milliseconds))
        store.clock.withLock { $0.observe(credible, nowMilliseconds: now.milliseconds) }
        let removal = try noteAgain(forked, after: keep)
        try job.rebuildItems()
        let reissued = try reissue(lost.changes(for: own.replica))
        let ended = try removal.map { try end($0) }
        return AdoptedBranch(head: head, reissued: reissued, ended: ended, order: order)
    }

    /// Reads the statements of a journal again that got another content.
    ///
    /// - Returns: what they say of the end of the job.
    private func noteAgain(_ journal: JournalRows, after keep: UInt64) throws -> JobRemoval? {
        try job.forgetStatements(of: journal.replica, after: keep)
        let writer = JournalWriter(journal: journal, received: nil, seal: { _ in nil })
        let limits = try job.limits()
        var said: [JobRemoval] = []
        var anchor: UInt64 = 0
        try job.forEachChange(of: journal.replica) { dotted in
            anchor = max(anchor, dotted.change.anchor)
            guard dotted.change.operations.contains(where: \.isStatement) else { return }
            let noted = try writer.note(
                dotted.change, at: dotted.dot.sequence, counts: limits.includes(dotted))
            said += noted.removals
            // Those before were told of when they came.
            if dotted.dot.sequence > keep { tell(of: noted.forged, in: journal.replica) }
        }
        try job.raiseAnchor(to: anchor)
        return try removal(by: said, in: journal)
    }

    /// Writes what was lost again. Whoever is told of the fork is told of this with it.
    func reissue(_ lost: [Change]) throws -> Commit? {
        guard !lost.isEmpty else { return nil }
        let own = own
        let base = try own.head()
        let bytes = laptopName(before: base, anchor: try job.anchor()) + lost.flatMap(ChangeCodec.encode)
        let reached = try JournalWriter(journal: own, received: now, seal: sealOwn)
            .apply(bytes, first: base.sequence + 1, after: base)
        let segment = try signed(bytes, after: base, reached)
        return Commit(job: id, segment: segment, applied: [], hasStatements: reached.hasStatements)
    }

    private static func latestStamp(in bytes: [UInt8], until limit: Stamp) throws(CodecError) -> Stamp {
        var latest = Stamp.zero
        try ChangeCodec.scan(bytes) { scanned, _ in
            if scanned.stamp <= limit { latest = max(latest, scanned.stamp) }
        }
        return latest
    }
}

extension JournalRows {
    /// Removes what follows `keep`, which ends a change, and returns it.
    ///
    /// - Parameter seal: gives the author's signature over what is kept, if there can be one.
    func cut(
        after keep: UInt64, seal: (JournalHead) throws -> JournalSignature? = { _ in nil }
    ) throws -> [DottedChange] {
        let pieces = try pieces(from: keep + 1)
        guard let first = pieces.first else { return [] }
        var kept: [UInt8] = []
        var branch: [DottedChange] = []
        var latest = Stamp.zero
        for piece in pieces {
            var sequence = piece.first - 1
            try ChangeCodec.scan(piece.bytes) { scanned, buffer in
                let dot = Dot(replica: replica, sequence: sequence + 1)
                sequence += UInt64(scanned.operationCount)
                if sequence <= keep {
                    kept += buffer[scanned.record]
                    latest = max(latest, scanned.stamp)
                } else {
                    branch.append(DottedChange(dot: dot, change: ChangeCodec.decode(scanned, in: buffer)))
                }
            }
        }
        let base = try headBefore(first.first)
        try db.execute(
            sql: "DELETE FROM segment WHERE job = ? AND replica = ? AND last > ?",
            arguments: [job.number, replica.value.blob, base.sequence.signed])
        try setHead(base, latest: latest)
        if !kept.isEmpty {
            let head = try base.after(kept)
            try append(kept[...], after: base, head: head, latest: latest, seal: seal)
        }
        return branch
    }
}
