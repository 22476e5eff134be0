import CRDT
import Replication

extension WireProbeAnswer {
    init(job: JobID, replica: ReplicaID, answer: ProbeAnswer) throws {
        try answer.check()
        self.job = job.text
        self.replica = replica.wire
        sequence = answer.sequence
        changeHash = answer.changeHash
        if let head = answer.boundary {
            boundary.sequence = head.sequence
            boundary.digest = head.digest.wire
        }
    }

    func answer() throws -> ProbeAnswer {
        let head =
            hasBoundary
            ? JournalHead(sequence: boundary.sequence, digest: try JournalDigest(wire: boundary.digest)) : nil
        let answer = ProbeAnswer(sequence: sequence, boundary: head, changeHash: changeHash)
        try answer.check()
        return answer
    }
}

extension ProbeAnswer {
    fileprivate func check() throws {
        guard sequence >= 1 else { throw WireFormatError.sequenceZero(.sequence) }
        if let boundary, boundary.sequence < sequence {
            throw WireFormatError.boundaryTooEarly(boundary: boundary.sequence, sequence: sequence)
        }
    }
}
