import CRDT
import Replication

extension WireRequest {
    init(job: JobID, replica: ReplicaID, from: UInt64, credit: UInt32, graft: Bool) throws {
        guard from >= 1 else { throw WireFormatError.sequenceZero(.from) }
        self.job = job.text
        self.replica = replica.wire
        self.from = from
        self.credit = credit
        self.graft = graft
    }

    func message() throws -> Message {
        guard from >= 1 else { throw WireFormatError.sequenceZero(.from) }
        return .request(
            job: try JobID(wire: job), replica: try ReplicaID(wire: replica), from: from, credit: credit, graft: graft)
    }
}

extension WireCredit {
    init(job: JobID, replica: ReplicaID, bytes: UInt32) {
        self.job = job.text
        self.replica = replica.wire
        self.bytes = bytes
    }

    func message() throws -> Message {
        .credit(job: try JobID(wire: job), replica: try ReplicaID(wire: replica), bytes: bytes)
    }
}

extension WireProbe {
    init(job: JobID, replica: ReplicaID, sequence: UInt64) throws {
        guard sequence >= 1 else { throw WireFormatError.sequenceZero(.sequence) }
        self.job = job.text
        self.replica = replica.wire
        self.sequence = sequence
    }

    func message() throws -> Message {
        guard sequence >= 1 else { throw WireFormatError.sequenceZero(.sequence) }
        return .probe(job: try JobID(wire: job), replica: try ReplicaID(wire: replica), sequence: sequence)
    }
}
