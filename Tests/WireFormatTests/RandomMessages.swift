// swift-format-ignore-file: NeverForceUnwrap
import CRDT
import Replication
import Simulation
import Timekeeping

extension Message {
    static func random(using random: inout SeededGenerator) -> Message {
        let job = JobID(String(["a", "Job.1", "0190-x_y", "house"].randomElement(using: &random)!))!
        let replica = ReplicaID.random(using: &random)
        let number = random.next() >> UInt64.random(in: 0...63, using: &random)
        let sequence = min(max(1, number), ProtocolLimits.sequence)
        switch Int.random(in: 0..<24, using: &random) {
        case 0:
            return .hello(
                Hello(
                    minimumVersion: 1, maximumVersion: UInt32(clamping: sequence),
                    device: .random(using: &random), instance: number, name: "laptop-\(number)",
                    revocations: number))
        case 1: return .ping(number)
        case 23:
            let words = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                Assignment.Word(.random(using: &random), isOn: number % 2 == 0)
            }
            let said = Assignment(
                of: job, words, stamp: Stamp(rawValue: number >> 2), signer: .random(using: &random),
                certificates: [[UInt8](repeating: 7, count: Int(number % 4_097))]
            ) { _ in [UInt8](repeating: 9, count: 64) }
            return .assignments([said].compactMap(\.self))
        case 22:
            let count = Int.random(in: 0...64, using: &random)
            return .revocations((0..<count).map { [UInt8](repeating: UInt8($0), count: Int(number % 4_097)) })
        case 2:
            let quality = ClockQuality(
                stratum: .random(in: 0...16, using: &random), uncertainty: Int64(number >> 2),
                floor: Int64(bitPattern: random.next()), isPlausible: number % 2 == 0)
            return .pong(
                number, received: Int64(bitPattern: random.next()), answered: Int64(bitPattern: random.next()), quality)
        case 3:
            let count = Int.random(in: 0...5, using: &random)
            return .summaries(
                bucket: .random(in: 0..<256, using: &random),
                (0..<count).map { _ in JobSummary(job: job, fingerprint: random.next()) })
        case 4:
            let heads = VersionVector(entries(using: &random))
            let removal = number % 2 == 0 ? JobRemoval(name: "Elm Street \(number)", heads: heads) : nil
            return .vector(
                job: job, VersionVector(entries(using: &random)), end: removal.map { ToldEnd($0, knowing: number) })
        case 5: return .have(job: job, entries(using: &random))
        case 6: return .request(job: job, replica: replica, from: sequence, credit: 9, graft: number % 2 == 0)
        case 7: return .credit(job: job, replica: replica, bytes: UInt32(clamping: number))
        case 8:
            let count = Int.random(in: 1...200, using: &random)
            let head = JournalHead(sequence: sequence, digest: JournalDigest(random.next()))
            let segment = JournalSegment(
                replica: replica, first: UInt64.random(in: 1...sequence, using: &random), head: head,
                bytes: (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) },
                signature: number % 3 == 0
                    ? nil : JournalSignature([UInt8](repeating: 9, count: number % 3 == 1 ? 64 : 96)),
                author: number % 5 > 1
                    ? nil
                    : JournalAuthor(
                        key: [UInt8](repeating: UInt8(count), count: 32),
                        nonce: number % 7 == 0 ? nil : UInt128(number),
                        certificates: number % 5 == 0 ? [] : [[1, 2], [3]]))
            return .delta(job: job, segment, pushed: number % 2 == 0)
        case 9: return .prune(job: job)
        case 10: return .probe(job: job, replica: replica, sequence: sequence)
        case 11:
            let boundary = number % 3 == 0 ? nil : JournalHead(sequence: sequence, digest: JournalDigest(number))
            let answer = ProbeAnswer(sequence: sequence, boundary: boundary, changeHash: random.next())
            return .probeAnswer(job: job, replica: replica, answer)
        case 12: return .forked(job: job, replica: replica)
        case 13: return .reportRequest(job: job, number: number)
        case 14:
            let digest = (0..<(number % 2 == 0 ? 0 : 32)).map { _ in UInt8.random(in: 0...255, using: &random) }
            let vector = VersionVector(entries(using: &random))
            return .report(JobDigestReport(job: job, number: number, vector: vector, digest: digest))
        case 15: return .ready
        case 16: return .fingerprint(number)
        case 17: return .bucketsRequest
        case 18: return .buckets((0..<256).map { _ in Bool.random(using: &random) ? random.next() : 0 })
        case 19: return .summariesRequest(bucket: .random(in: 0..<256, using: &random))
        case 20: return .vectorRequest(job: job)
        default: return .goodbye("reason \(number)")
        }
    }

    private static func entries(using random: inout SeededGenerator) -> [VersionVector.Entry] {
        (0..<Int.random(in: 0...6, using: &random)).map { _ in
            let sequence = max(1, random.next() >> UInt64.random(in: 24...63, using: &random))
            return VersionVector.Entry(
                replica: .random(using: &random),
                head: JournalHead(sequence: sequence, digest: JournalDigest(random.next())))
        }
    }
}
