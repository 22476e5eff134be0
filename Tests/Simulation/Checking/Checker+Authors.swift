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

    /// A device has issued again what stood in the branch of a journal that it gave up.
    func reissued(_ segment: JournalSegment, by device: Holder) throws {
        var reissued = Reference()
        reissued.begin(segment.replica, after: JournalHead(sequence: segment.first - 1, digest: 0))
        try checkAuthors(of: reissued.append(segment), on: device)
    }

    /// Rule R4: nothing is claimed or passed on that is not durable.
    func sent(_ message: Message, by device: Device) throws {
        switch message {
        case .have(let job, let entries): try claims(entries, of: job, by: device)
        case .vector(let job, let vector, _): try claims(vector.entries, of: job, by: device)
        case .delta(let job, let segment, _):
            try claims([VersionVector.Entry(replica: segment.replica, head: segment.head)], of: job, by: device)
            try publish(segment, of: job)
        default: break
        }
    }

    /// The office is about to get it.
    func showed(_ segment: JournalSegment, of job: JobID, by device: Device) throws {
        try claims([VersionVector.Entry(replica: segment.replica, head: segment.head)], of: job, by: device)
        try publish(segment, of: job)
    }

    private func claims(_ entries: [VersionVector.Entry], of job: JobID, by device: Device) throws {
        for entry in entries {
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

    func renewed(_ device: Device, from former: StoreIdentity) throws {
        guard device.store.identity.replica != former.replica else {
            throw Violation("R9", "\(device) was to renew itself and kept its name.")
        }
    }
}
