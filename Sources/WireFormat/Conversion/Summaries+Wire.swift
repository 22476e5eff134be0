import CRDT
import Replication

extension WireSummaries {
    init(_ summaries: [JobSummary]) throws {
        try Self.check(count: summaries.count)
        jobs = summaries.map(\.job.text)
        fingerprints = summaries.map(\.fingerprint)
    }

    func summaries() throws -> [JobSummary] {
        guard jobs.count == fingerprints.count else { throw WireFormatError.unevenColumns(.jobs) }
        try Self.check(count: jobs.count)
        return try zip(jobs, fingerprints).map { JobSummary(job: try JobID(wire: $0), fingerprint: $1) }
    }

    private static func check(count: Int) throws {
        guard count <= ProtocolLimits.summariesPerMessage else {
            throw WireFormatError.tooManyEntries(.jobs, count: count)
        }
    }
}
