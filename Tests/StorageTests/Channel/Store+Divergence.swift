import CRDT

@testable import Storage

extension Store {
    /// Where a run and what is held here part, without taking anything in.
    func divergence(of segment: JournalSegment, job: JobID) async throws -> Divergence? {
        try await read(of: job) { try $0.journal(of: segment.replica).divergence(of: segment) }
    }
}
