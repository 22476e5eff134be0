// swift-format-ignore-file: NeverForceUnwrap
import CRDT
import Foundation
import NIOCore
import Replication
import Simulation
import Timekeeping

/// One message of each kind, as the fixtures hold them.
enum Samples {
    static let job = JobID("job-7.B_x")!
    static let first = ReplicaID("101112131415161718191a1b1c1d1e1f")!
    static let second = ReplicaID("a0a1a2a3a4a5a6a7a8a9aaabacadaeaf")!
    static let device = DeviceID("202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f")!

    static let hello = Message.hello(
        Hello(
            minimumVersion: 1, maximumVersion: 2, device: device, instance: 0x0123_4567_89ab_cdef, name: "Kühlraum 2",
            revocations: 0x0102_0304_0506_0708))

    static let assignment = Assignment(
        of: job,
        [
            Assignment.Word(DeviceID(high: 0, low: 0), isOn: true),
            Assignment.Word(DeviceID(high: .max, low: .max), isOn: false),
        ], stamp: Stamp(milliseconds: 7, counter: 3), signer: device, certificates: [[1, 2, 3], [255]]
    ) { _ in Array(0..<64) }!

    static let named: [(name: String, message: Message)] = [
        ("hello", hello),
        ("revocations", .revocations([[1, 2, 3], [255]])),
        ("assignments", .assignments([assignment])),
        ("ping", .ping(1)),
        (
            "pong",
            .pong(
                .max, received: 1_780_000_000_000_001, answered: 1_780_000_000_000_900,
                ClockQuality(stratum: 2, uncertainty: 45_000))
        ),
        ("pong-unsynchronised", .pong(7, received: -1, answered: 0, .unsynchronised)),
        (
            "pong-implausible",
            .pong(
                7, received: 1_780_000_000_000_001, answered: 1_780_000_000_000_001,
                ClockQuality(stratum: 15, uncertainty: 1 << 50, floor: 1_780_000_000_000_000, isPlausible: false))
        ),
        ("ready", .ready),
        (
            "summaries",
            .summaries(
                bucket: 255,
                [
                    JobSummary(job: job, fingerprint: 7), JobSummary(job: JobID("z")!, fingerprint: 1 << 63),
                ])
        ),
        ("fingerprint", .fingerprint(0x8001_0203_0405_0607)),
        ("buckets-request", .bucketsRequest),
        ("buckets", .buckets(buckets([0: 5, 3: 1 << 63, 128: 9, 255: .max]))),
        ("buckets-none", .buckets(buckets([:]))),
        ("summaries-request", .summariesRequest(bucket: 200)),
        ("vector-request", .vectorRequest(job: job)),
        (
            "vector",
            .vector(job: job, VersionVector([entry(first, 1, 5), entry(second, 600_000, .max)]), end: nil)
        ),
        ("have", .have(job: job, [entry(second, 300, 9), entry(first, 2, 10)])),
        ("request", .request(job: job, replica: first, from: 1, credit: 4 << 20, graft: true)),
        ("credit", .credit(job: job, replica: first, bytes: 64 << 10)),
        ("delta", .delta(job: job, segment(first: 9, last: 12, bytes: [1, 2, 255, 0]), pushed: true)),
        ("delta-signed", .delta(job: job, signed, pushed: true)),
        ("delta-server", .delta(job: job, signedByServer, pushed: false)),
        ("prune", .prune(job: job)),
        ("probe", .probe(job: job, replica: second, sequence: 40)),
        (
            "probe-answer",
            .probeAnswer(
                job: job, replica: second,
                ProbeAnswer(sequence: 40, boundary: JournalHead(sequence: 44, digest: 6), changeHash: 3))
        ),
        (
            "probe-answer-unheld",
            .probeAnswer(job: job, replica: second, ProbeAnswer(sequence: 40, boundary: nil, changeHash: 0))
        ),
        ("forked", .forked(job: job, replica: first)),
        ("report-request", .reportRequest(job: job, number: 6)),
        (
            "report",
            .report(
                JobDigestReport(
                    job: job, number: 6, vector: VersionVector([entry(first, 3, 4)]), digest: Array(0x20..<0x40)))
        ),
        ("report-unheld", .report(JobDigestReport(job: job, number: 7, vector: VersionVector(), digest: []))),
        ("goodbye", .goodbye("the store is gone")),
    ]

    /// Its run becomes a tenth as long.
    static let compressible = Message.delta(
        job: job,
        segment(
            first: 9, last: 12,
            bytes: (0..<40).flatMap { Array(String(format: "Numbered item %06d in the Living room;", $0).utf8) }),
        pushed: true)

    static func entry(_ replica: ReplicaID, _ sequence: UInt64, _ digest: UInt64) -> VersionVector.Entry {
        VersionVector.Entry(replica: replica, head: JournalHead(sequence: sequence, digest: JournalDigest(digest)))
    }

    /// What stands in each bucket; 0 in all others.
    static func buckets(_ filled: [Int: UInt64]) -> [UInt64] {
        (0..<ProtocolLimits.jobBuckets).map { filled[$0] ?? 0 }
    }

    private static let signed = JournalSegment(
        replica: first, first: 9, head: JournalHead(sequence: 12, digest: 77), bytes: [1, 2, 3],
        signature: JournalSignature((0..<64).map { Array("0123456789abcdef".utf8)[$0 % 16] }),
        author: JournalAuthor(
            key: Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef".utf8),
            nonce: 0x3031_3233_3435_3637_3839_6162_6364_6566,
            certificates: [Array("leaf".utf8), Array("issuer".utf8)]))

    private static let signedByServer = JournalSegment(
        replica: .channel, first: 1, head: JournalHead(sequence: 2, digest: 77), bytes: [1, 2, 3],
        signature: JournalSignature((0..<96).map { UInt8($0) }),
        author: JournalAuthor(key: Array(64..<96), nonce: nil, certificates: [Array("leaf".utf8)]))

    static func segment(first: UInt64, last: UInt64, bytes: [UInt8]) -> JournalSegment {
        JournalSegment(
            replica: Samples.first, first: first, head: JournalHead(sequence: last, digest: 77), bytes: bytes)
    }
}

/// The files beside these tests.
enum Fixtures {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    static func names(in kind: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: kind).path())
            .map { String($0.dropLast(".hex".count)) }.sorted()
    }

    static func bytes(_ kind: String, _ name: String) throws -> ByteBuffer {
        let text = try String(contentsOf: folder.appending(path: "\(kind)/\(name).hex"), encoding: .utf8)
        let digits = Array(text.filter { !$0.isWhitespace })
        return ByteBuffer(
            bytes: stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...($0 + 1)]), radix: 16)! })
    }
}
