import Authorship
package import CRDT
import FoundationEssentials
package import HTTPCoding

/// Writes a job's history: who wrote what, with all that shows it to somebody who trusts the fleet's root and nobody else.
package struct HistoryWriter: Sendable {
    private let job: JobID
    private let fleet: [UInt8]?
    private let time: Timestamp
    private var told: Set<ReplicaID> = []
    private var runs = 0

    /// - Parameters:
    ///   - fleet: the root's certificate in DER; nil without a fleet.
    ///   - time: corrected.
    package init(job: JobID, fleet: [UInt8]?, time: Timestamp) {
        self.job = job
        self.fleet = fleet
        self.time = time
    }

    /// What the file begins with.
    package func beginning() throws -> [UInt8] {
        try line(.job(HistoryLine.Job(job: job.text, fleet: fleet.map { Data($0) }, exportedAt: time)))
    }

    /// The next run; those of a journal follow one another from its beginning on.
    package mutating func add(_ segment: JournalSegment) throws -> [UInt8] {
        var bytes: [UInt8] = []
        if let author = segment.author, told.insert(author.name).inserted {
            bytes += try line(
                .author(
                    HistoryLine.Author(
                        journal: segment.replica.description, key: Data(author.key),
                        nonce: author.nonce.map { ReplicaID($0).description },
                        certificates: author.certificates.map { Data($0) }))
            )
        }
        runs += 1
        bytes += try line(
            .run(
                HistoryLine.Run(
                    journal: segment.replica.description, first: segment.first, last: segment.head.sequence,
                    digest: segment.head.digest.description, signature: (segment.signature?.bytes).map { Data($0) },
                    changes: Data(segment.bytes))))
        return bytes
    }

    /// What the file ends with.
    package func ending() throws -> [UInt8] { try line(.end(HistoryLine.End(runs: runs))) }

    private func line(_ line: HistoryLine) throws -> [UInt8] {
        try JSON.encode(line) + [UInt8(ascii: "\n")]
    }
}
