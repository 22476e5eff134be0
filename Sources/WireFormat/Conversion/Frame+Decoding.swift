import CRDT
import Replication

extension Message {
    /// Reads a frame with every bound checked.
    init(_ frame: WireFrame) throws {
        switch frame.kind {
        case .hello(let hello): self = .hello(try hello.hello())
        case .ping(let number): self = .ping(number)
        case .pong(let pong): self = try pong.message()
        case .ready: self = .ready
        case .revocations(let revocations): self = .revocations(try revocations.checkedEntries())
        case .assignments(let assignments): self = .assignments(try assignments.checkedStatements())
        case .fingerprint(let fingerprint): self = .fingerprint(fingerprint)
        case .bucketsRequest: self = .bucketsRequest
        case .buckets(let buckets): self = try buckets.message()
        case .summariesRequest(let bucket): self = .summariesRequest(bucket: try bucket.checkedBucket())
        case .summaries(let summaries): self = try summaries.message()
        case .vectorRequest(let job): self = .vectorRequest(job: try JobID(wire: job))
        case .vector(let vector):
            self = .vector(
                job: try JobID(wire: vector.job), try vector.vector(), end: try vector.end())
        case .have(let vector): self = .have(job: try JobID(wire: vector.job), try vector.entries())
        case .request(let request): self = try request.message()
        case .credit(let credit): self = try credit.message()
        case .delta(let delta):
            self = .delta(job: try JobID(wire: delta.job), try delta.segment(), pushed: delta.pushed)
        case .prune(let job): self = .prune(job: try JobID(wire: job))
        case .probe(let probe): self = try probe.message()
        case .probeAnswer(let answer):
            self = .probeAnswer(
                job: try JobID(wire: answer.job), replica: try ReplicaID(wire: answer.replica), try answer.answer())
        case .forked(let forked): self = try forked.message()
        case .reportRequest(let request):
            self = .reportRequest(job: try JobID(wire: request.job), number: request.number)
        case .report(let report): self = .report(try report.report())
        case .goodbye(let reason): self = .goodbye(try reason.checked(.reason, limit: ProtocolLimits.reasonBytes))
        case nil: throw WireFormatError.unknownMessage
        }
    }
}
