import CRDT
import Replication

extension WireSummaries {
    init(bucket: UInt32, _ summaries: [JobSummary]) throws {
        try Self.check(count: summaries.count)
        self.bucket = try bucket.checkedBucket()
        jobs = summaries.map(\.job.text)
        fingerprints = summaries.map(\.fingerprint)
    }

    func message() throws -> Message {
        guard jobs.count == fingerprints.count else { throw WireFormatError.unevenColumns(.jobs) }
        try Self.check(count: jobs.count)
        return .summaries(
            bucket: try bucket.checkedBucket(),
            try zip(jobs, fingerprints).map { JobSummary(job: try JobID(wire: $0), fingerprint: $1) })
    }

    private static func check(count: Int) throws {
        guard count <= ProtocolLimits.summariesPerMessage else {
            throw WireFormatError.tooManyEntries(.jobs, count: count)
        }
    }
}

extension WireBuckets {
    init(_ values: [UInt64]) throws {
        fingerprints = try Self.checked(values)
    }

    func message() throws -> Message { .buckets(try Self.checked(fingerprints)) }

    private static func checked(_ values: [UInt64]) throws -> [UInt64] {
        guard values.count == ProtocolLimits.jobBuckets else {
            throw WireFormatError.bucketCount(values.count)
        }
        return values
    }
}

extension UInt32 {
    /// The number of a bucket.
    func checkedBucket() throws -> UInt32 {
        guard self < ProtocolLimits.jobBuckets else { throw WireFormatError.bucketNumber(self) }
        return self
    }
}
