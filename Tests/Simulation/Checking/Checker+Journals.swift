import Authorship
import CRDT
import Storage

/// Rule R9 against whoever passes journals on: under a name stands what its author has written there, and nothing else.
extension Holder {
    /// The name that it bears, and the one that it bore a transaction ago: several can become durable in one moment.
    var names: Set<ReplicaID> { Set([store.identity.replica, formerReplica].compactMap(\.self)) }
}

extension Checker {
    /// Somebody's own work, where it stands.
    func noteWritten(_ entries: some Sequence<Reference.Entry>, in reference: Reference, of job: JobID) {
        for entry in entries {
            let last = Dot(replica: entry.replica, sequence: entry.last)
            // The digest stands for all that comes before, too.
            if let digest = reference.digest(at: last) {
                written[job, default: [:]][last, default: []].insert(digest)
            }
        }
    }

    func checkWritten(_ heads: some Sequence<VersionVector.Entry>, of job: JobID, on device: Holder) throws {
        for entry in heads {
            let last = Dot(replica: entry.replica, sequence: entry.head.sequence)
            guard !(written[job]?[last]?.contains(entry.head.digest) ?? false) else { continue }
            throw Violation("R9", "\(device) holds \(entry.brief) of a journal, which its author has not written so.")
        }
    }

    /// Somebody of whom there is only this journal.
    func wroteElsewhere(_ segment: JournalSegment, of job: JobID, after base: JournalHead = .empty) {
        var reference = Reference()
        if base != .empty { reference.begin(segment.replica, after: base) }
        let entries = (try? reference.append(segment)) ?? []
        remember(entries)
        noteWritten(entries, in: reference, of: job)
    }
}
