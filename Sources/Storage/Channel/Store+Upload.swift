package import CRDT

/// What became of a run that a laptop brought.
package enum UploadOutcome: Hashable, Sendable {
    /// It went on from what was held, and is durable.
    case stored
    /// It was here already.
    case known
    /// The journal here ends before the run begins.
    case gap(JournalHead)
    /// Here stands something else from before the run on: it does not show where.
    case partsEarlier
    /// Both are the same up to here, and what follows here stays: the laptop gives way.
    case staysHere(after: UInt64)
    /// Both were the same up to here; what the run brought has taken its place, and what stood here is re-issued.
    case adopted(after: UInt64)
    /// Of the channel, which is the server's own.
    case ownJournal
    /// Its author has not signed it, for this reason.
    case forged(String)
}

/// Journals that laptops bring, their own and others'; only for a store that is the channel.
extension Store {
    /// Takes a run in; when this returns it is durable. A fork is settled as between two laptops (rule R9), in the same
    /// transaction: another laptop may be bringing the same journal.
    ///
    /// - Parameter mayWrite: whether what a fork, or a removal in the run, loses may be re-issued in the channel.
    /// - Throws: `ChannelIsSilent` when a fork would be settled in the run's favour, and nothing may be written; of a removal as
    ///   `takeRemoval` does.
    package func upload(
        _ segment: JournalSegment, job: JobID, now: ReceiveTime, mayWrite: Bool
    ) async throws -> UploadOutcome {
        guard segment.replica != .channel else { return .ownJournal }
        return try await write(isLong: segment.bytes.count > Self.fewBytes) { [self] db in
            var isForked = false
            let run = IncomingRun(job: job, segment: segment)
            let said = try JobRows(known: job, in: db)?.channel.head()
            let ingested = try ingest(run, now: now, takesOwnFuture: false, in: db)
            switch ingested.result {
            case .stored:
                if !mayWrite, let ended = ingested.ended { try ended.checkSilence(of: said ?? .empty, ended.removal) }
                return .stored
            case .gap(let head): return .gap(head)
            case .ownFuture: return .ownJournal
            case .forged(let reason): return .forged(reason)
            // Both are thrown here.
            case .malformed, .unvouched, .failed:
                throw StoreError(.other, "A run could not be taken in; send it again.")
            // It may still have another content: ingestion compares only where journals end.
            case .duplicate: break
            case .forked: isForked = true
            }
            let rows = try JobRows(of: job, in: db)
            guard let parting = try rows.journal(of: segment.replica).divergence(of: segment) else {
                return isForked ? .partsEarlier : .known
            }
            if parting.agreed >= segment.head.sequence { return .known }
            guard !parting.staysHere else { return .staysHere(after: parting.agreed) }
            guard mayWrite else { throw ChannelIsSilent() }
            let branch = try segment.dropping(through: parting.agreed)
            var transaction = JobTransaction(self, id: job, job: rows, now: now)
            _ = try transaction.adopt(branch, after: parting.agreed)
            return .adopted(after: parting.agreed)
        }
    }
}

extension JournalSegment {
    /// What follows a sequence that ends a change.
    func dropping(through sequence: UInt64) throws(CodecError) -> JournalSegment {
        var next = first
        var start = 0
        try ChangeCodec.scan(bytes) { scanned, _ in
            next += UInt64(scanned.operationCount)
            if next <= sequence + 1 { start = scanned.record.upperBound }
        }
        return JournalSegment(
            replica: replica, first: sequence + 1, head: head, bytes: Array(bytes[start...]),
            signature: signature, author: author)
    }
}
