import CRDT
import Replication

extension WireForked {
    init(job: JobID, replica: ReplicaID) {
        self.job = job.text
        self.replica = replica.wire
    }

    func message() throws -> Message {
        .forked(job: try JobID(wire: job), replica: try ReplicaID(wire: replica))
    }
}

extension WireReportRequest {
    init(job: JobID, number: UInt64) {
        self.job = job.text
        self.number = number
    }
}

extension WireReport {
    init(_ report: JobDigestReport) throws {
        number = report.number
        vector = try WireVector(job: report.job, entries: report.vector.entries)
        digest.append(contentsOf: report.digest)
    }

    func report() throws -> JobDigestReport {
        guard digest.isEmpty || digest.count == 32 else {
            throw WireFormatError.identifierLength(.digest, bytes: digest.count)
        }
        return JobDigestReport(
            job: try JobID(wire: vector.job), number: number, vector: try vector.vector(), digest: Array(digest))
    }
}
