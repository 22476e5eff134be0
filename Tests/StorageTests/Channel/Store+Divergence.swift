import CRDT
import GRDB

@testable import Storage

extension Store {
    /// Where a run and what is held here part, without taking anything in.
    func divergence(of segment: JournalSegment, job: JobID) async throws -> Divergence? {
        try await read { db in
            let journal = JournalKey(job: try JobTable.existingNumber(of: job, in: db), replica: segment.replica)
            return try Self.divergence(of: segment, from: journal, in: db)
        }
    }
}
