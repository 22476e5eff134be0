import CRDT
import Replication

extension WireFrame {
    /// Calls `body` with the frame of a message; the frame must not outlive the call.
    static func withFrame<Result>(
        of message: Message, isCompressing: Bool, _ body: (WireFrame) throws -> Result
    ) throws -> Result {
        switch message {
        case .hello(let hello): try body(WireFrame(.hello(WireHello(hello))))
        case .ping(let number): try body(WireFrame(.ping(number)))
        case .pong(let number, let received, let answered, let quality):
            try body(
                WireFrame(
                    .pong(try WirePong(number: number, received: received, answered: answered, quality: quality))))
        case .ready: try body(WireFrame(.ready(true)))
        case .revocations(let entries): try body(WireFrame(.revocations(WireRevocations(entries))))
        case .assignments(let statements): try body(WireFrame(.assignments(WireAssignments(statements))))
        case .fingerprint(let fingerprint): try body(WireFrame(.fingerprint(fingerprint)))
        case .bucketsRequest: try body(WireFrame(.bucketsRequest(true)))
        case .buckets(let values): try body(WireFrame(.buckets(WireBuckets(values))))
        case .summariesRequest(let bucket): try body(WireFrame(.summariesRequest(try bucket.checkedBucket())))
        case .summaries(let bucket, let summaries):
            try body(WireFrame(.summaries(WireSummaries(bucket: bucket, summaries))))
        case .vectorRequest(let job): try body(WireFrame(.vectorRequest(job.text)))
        case .vector(let job, let vector, let end):
            try body(WireFrame(.vector(WireVector(job: job, entries: vector.entries, end: end))))
        case .have(let job, let entries): try body(WireFrame(.have(WireVector(job: job, entries: entries))))
        case .request(let job, let replica, let from, let credit, let graft):
            try body(
                WireFrame(.request(WireRequest(job: job, replica: replica, from: from, credit: credit, graft: graft))))
        case .credit(let job, let replica, let bytes):
            try body(WireFrame(.credit(WireCredit(job: job, replica: replica, bytes: bytes))))
        case .delta(let job, let segment, let pushed):
            try WireDelta.withDelta(job: job, segment: segment, pushed: pushed, isCompressing: isCompressing) {
                try body(WireFrame(.delta($0)))
            }
        case .prune(let job): try body(WireFrame(.prune(job.text)))
        case .probe(let job, let replica, let sequence):
            try body(WireFrame(.probe(WireProbe(job: job, replica: replica, sequence: sequence))))
        case .probeAnswer(let job, let replica, let answer):
            try body(WireFrame(.probeAnswer(WireProbeAnswer(job: job, replica: replica, answer: answer))))
        case .forked(let job, let replica): try body(WireFrame(.forked(WireForked(job: job, replica: replica))))
        case .reportRequest(let job, let number):
            try body(WireFrame(.reportRequest(WireReportRequest(job: job, number: number))))
        case .report(let report): try body(WireFrame(.report(WireReport(report))))
        case .goodbye(let reason): try body(WireFrame(.goodbye(reason.asReason)))
        }
    }

    private init(_ kind: OneOf_Kind) {
        self.init()
        self.kind = kind
    }
}
