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
        guard values.count == ProtocolLimits.jobBuckets else { throw WireFormatError.bucketCount(values.count) }
        let filled = values.indices.filter { values[$0] != 0 }
        numbers = filled.map(UInt32.init)
        fingerprints = filled.map { values[$0] }
    }

    func message() throws -> Message {
        guard numbers.count == fingerprints.count else { throw WireFormatError.unevenColumns(.buckets) }
        var values = [UInt64](repeating: 0, count: ProtocolLimits.jobBuckets)
        var next: UInt32 = 0
        for (number, fingerprint) in zip(numbers, fingerprints) {
            guard try number.checkedBucket() >= next else { throw WireFormatError.unsortedBuckets }
            values[Int(number)] = fingerprint
            next = number + 1
        }
        return .buckets(values)
    }
}

extension UInt32 {
    /// The number of a bucket.
    func checkedBucket() throws -> UInt32 {
        guard self < ProtocolLimits.jobBuckets else { throw WireFormatError.bucketNumber(self) }
        return self
    }
}
