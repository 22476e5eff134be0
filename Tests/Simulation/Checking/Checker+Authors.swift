import CRDT
import Replication
import Storage

/// Rules R4, R5 and R9: nothing is claimed that is not durable, what was seen never changes, and who issues a change
/// again leaves it its first author and stamp.
extension Checker {
    /// What a device writes itself, or stamps anew.
    func remember(_ entries: some Sequence<Reference.Entry>) {
        for entry in entries where entry.change.origin == nil {
            for work in entry.work {
                firstWrites[Work(item: work.item, deed: work.deed), default: []].insert(work.write)
            }
        }
    }

    func checkAuthors(of entries: some Sequence<Reference.Entry>, on device: Holder) throws {
        for entry in entries where entry.change.origin != nil {
            for work in entry.work {
                let first = firstWrites[Work(item: work.item, deed: work.deed)] ?? []
                guard !first.contains(work.write) else { continue }
                throw Violation(
                    "R9", "on \(device), \(work.deed) is issued again as if \(work.write.author) had written it.")
            }
        }
    }

    /// Rule R4: nothing is claimed or passed on that is not durable.
    func sent(_ message: Message, by device: Holder) throws {
        switch message {
        case .have(let job, let entries): try claims(entries, of: job, by: device)
        case .vector(let job, let vector, _): try claims(vector.entries, of: job, by: device)
        case .delta(let job, let segment, _):
            try claims([VersionVector.Entry(replica: segment.replica, head: segment.head)], of: job, by: device)
            try publish(segment, of: job)
        default: break
        }
    }

    /// The server is about to get it.
    func showed(_ segment: JournalSegment, of job: JobID, by device: Holder) throws {
        try claims([VersionVector.Entry(replica: segment.replica, head: segment.head)], of: job, by: device)
        try publish(segment, of: job)
    }

    private func claims(_ entries: [VersionVector.Entry], of job: JobID, by device: Holder) throws {
        // Of a name that was two stores', one branch may just have given way on the disk.
        for entry in entries where !forkable.contains(entry.replica) {
            let head = device[job].head(of: entry.replica)
            guard entry.head.sequence > head.sequence else { continue }
            throw Violation("R4", "\(device) speaks of \(entry.brief), durable is \(head.sequence).")
        }
    }

    /// What somebody has seen has one content for ever.
    private func publish(_ segment: JournalSegment, of job: JobID) throws {
        guard !forkable.contains(segment.replica) else { return }
        var sequence = segment.first
        var flaw: Violation?
        try ChangeCodec.scan(segment.bytes) { scanned, buffer in
            let record = UnsafeRawBufferPointer(rebasing: buffer[scanned.record])
            let hash = SipHash.hash(record, key: (1, 2))
            let place = PublishedPlace(job: job, dot: Dot(replica: segment.replica, sequence: sequence))
            if let former = published.updateValue(hash, forKey: place), former != hash, flaw == nil {
                flaw = Violation("R9", "\(segment.brief) has another content at \(sequence) than was seen before.")
            }
            sequence += UInt64(scanned.operationCount)
        }
        if let flaw { throw flaw }
    }
}
