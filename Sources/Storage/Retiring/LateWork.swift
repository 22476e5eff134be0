package import CRDT
import GRDB
import Synchronization

/// A change that is in its journal but in no item, until a person decides.
package struct LateChange: Hashable, Sendable {
    /// Of its first transform.
    package let dot: Dot
    /// Who wrote it first.
    package let author: ReplicaID
    package let change: Change
}

enum LateWork {
    /// Undecided late changes, journal by journal.
    static func changes(of job: Int64, in db: Database) throws -> [LateChange] {
        let spans = try LateSpans(job: job, in: db)
        guard !spans.isEmpty else { return [] }
        let roster = try StatementTable.roster(of: job, in: db)
        var late: [LateChange] = []
        try SegmentReader.forEach(job: job, in: db) { scanned, buffer, dot in
            guard scanned.stub == nil, spans.holds(scanned, at: dot), dot.sequence > roster.decided(of: dot.replica)
            else { return }
            let change = ChangeCodec.decode(scanned, in: buffer)
            late.append(LateChange(dot: dot, author: change.origin ?? dot.replica, change: change))
        }
        return late
    }
}
