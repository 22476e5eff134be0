import NIOCore
import NIOTestUtils
import Replication
import Testing
import WireFormat

@Suite("Malformed frames")
struct MalformedFrameTests {
    static let errors: [String: WireFormatError] = [
        "hello-frame-over-4-KiB": .oversizedFrame(bytes: 4097, limit: 4096),
        "http-request": .oversizedFrame(bytes: 0x4745_5420, limit: 4096),
        "first-frame-no-hello": .helloMissing,
        "empty-frame": .unknownMessage,
        "second-hello": .helloRepeated,
        "frame-over-1-MiB": .oversizedFrame(bytes: 1 << 20 + 1, limit: 1 << 20),
        "length-all-ones": .oversizedFrame(bytes: 0xffff_ffff, limit: 1 << 20),
        "unknown-kind": .unknownMessage,
        "broken-varint": .malformedPayload,
        "length-field-past-end": .malformedPayload,
        "invalid-utf8": .malformedPayload,
        "wrong-wire-type": .unknownMessage,
        "version-zero": .versions(minimum: 0, maximum: 1),
        "versions-backwards": .versions(minimum: 3, maximum: 2),
        "device-short": .identifierLength(.device, bytes: 31),
        "device-long": .identifierLength(.device, bytes: 33),
        "name-long": .textTooLong(.name, bytes: 129),
        "name-with-escape": .controlCharacter(.name),
        "job-empty": .jobName,
        "job-with-slash": .jobName,
        "job-long": .jobName,
        "replica-short": .identifierLength(.replica, bytes: 15),
        "summaries-uneven": .unevenColumns(.jobs),
        "summaries-too-many": .tooManyEntries(.jobs, count: 4097),
        "summaries-bucket-256": .bucketNumber(256),
        "summaries-request-bucket-256": .bucketNumber(256),
        "revocations-too-many": .tooManyEntries(.revocations, count: 65),
        "assignments-too-many": .tooManyEntries(.assignments, count: 33),
        "assignment-unordered": .malformedAssignment,
        "assignment-signature-short": .malformedAssignment,
        "revocations-too-long": .textTooLong(.revocations, bytes: 4_097),
        "buckets-uneven": .unevenColumns(.buckets),
        "buckets-bucket-256": .bucketNumber(256),
        "buckets-unsorted": .unsortedBuckets,
        "buckets-twice-one": .unsortedBuckets,
        "vector-uneven": .unevenColumns(.entries),
        "vector-half-replica": .unevenColumns(.entries),
        "vector-unsorted": .unsortedVector,
        "vector-twice-one-replica": .unsortedVector,
        "vector-sequence-zero": .sequenceZero(.entries),
        "vector-sequence-too-large": .sequenceTooLarge(.entries),
        "delta-last-too-large": .sequenceTooLarge(.last),
        "request-from-zero": .sequenceZero(.from),
        "delta-empty": .emptySegment,
        "compressed-says-too-little": .malformedCompression,
        "compressed-says-too-much": .malformedCompression,
        "compressed-truncated": .malformedCompression,
        "compressed-with-bytes-after": .malformedCompression,
        "compressed-two-frames": .malformedCompression,
        "compressed-frame-to-skip": .malformedCompression,
        "compressed-frame-to-skip-after": .malformedCompression,
        "compressed-size-not-told": .malformedCompression,
        "compressed-former-format": .malformedCompression,
        "compressed-no-zstd": .malformedCompression,
        "compressed-empty": .malformedCompression,
        "compressed-nothing": .emptySegment,
        "compressed-bomb": .oversizedRun(bytes: 64 << 20),
        "compressed-over-limit": .oversizedRun(bytes: 1 << 20 - 1_023),
        "compressed-reserved-block": .malformedCompression,
        "compressed-broken-block": .malformedCompression,
        "compressed-wants-dictionary": .malformedCompression,
        "delta-first-zero": .sequenceZero(.first),
        "delta-backwards": .backwardsSegment(first: 5, last: 4),
        "probe-sequence-zero": .sequenceZero(.sequence),
        "probe-answer-too-early": .boundaryTooEarly(boundary: 8, sequence: 9),
        "report-digest-short": .identifierLength(.digest, bytes: 31),
        "pong-of-version-1": .unknownMessage,
        "pong-stratum-17": .clockQuality,
        "pong-uncertainty-too-large": .clockQuality,
        "goodbye-long": .textTooLong(.reason, bytes: 513),
        "ends-inside-a-frame": .truncatedFrame(bytes: 7),
    ]

    @Test("a faulty frame is refused by its fault", arguments: try Fixtures.names(in: "malformed"))
    func isRefused(name: String) throws {
        let expected = try #require(Self.errors[name], "no error is noted for the fixture \(name)")
        #expect(throws: expected) {
            var bytes = try Fixtures.bytes("malformed", name)
            var decoder = FrameDecoder()
            while try decoder.decode(buffer: &bytes) != nil {}
            while try decoder.decodeLast(buffer: &bytes, seenEOF: true) != nil {}
        }
        #expect(!expected.description.isEmpty)
    }

    @Test("a field that is not known yet is ignored")
    func unknownField() throws {
        // Ping as field 2, then field 200 with the number 1.
        let payload = ByteBuffer(bytes: [0x11, 5, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0x0c, 1])
        #expect(try PayloadDecoder.decode(payload) == .ping(5))
    }
}
