import CRDT
import NIOCore
import Testing
import WireFormat

@Suite("Frames of an enrolment")
struct EnrolmentTests {
    static let proof = [UInt8](repeating: 7, count: 32)
    static let messages: [EnrolmentMessage] = [
        .ask(invitation: "7K3M", name: "tom-laptop"),
        .terms(root: [UInt8](repeating: 1, count: 400), role: "member", name: "lea-laptop"),
        .newcomerProof(proof), .inviterProof(proof),
        .certificates([[1, 2], [3], [UInt8](repeating: 4, count: 900)]),
        .refusal(.elsewhere), .refusal(.busy), .refusal(.wrongCode(triesLeft: 2)), .refusal(.expired),
        .refusal(.triesUsedUp), .refusal(.used), .refusal(.withdrawn), .refusal(.notRenewable), .refusal(.unknown),
        .renewal,
    ]

    @Test("come back as they went, one after the other", arguments: messages)
    func roundTrip(message: EnrolmentMessage) throws {
        var bytes = try EnrolmentCodec.encode(message)
        var more = try EnrolmentCodec.encode(.renewal)
        let last = more.readableBytes - 1
        bytes.writeBytes(more.readBytes(length: last) ?? [])
        #expect(try EnrolmentCodec.decode(&bytes) == message)
        #expect(try EnrolmentCodec.decode(&bytes) == nil, "the second one is not whole")
        bytes.writeBytes(more.readBytes(length: 1) ?? [])
        #expect(try EnrolmentCodec.decode(&bytes) == .renewal)
        #expect(bytes.readableBytes == 0)
    }

    /// Frames by hand: a field's tag and its content (protobuf, "Encoding").
    static let malformed: [(name: String, frame: [UInt8], error: WireFormatError)] = [
        ("HTTP", Array("GET / HTTP/1.1\r\n".utf8), .oversizedFrame(bytes: 0x4745_5420, limit: 16_384)),
        ("one over the limit", [0, 0, 0x40, 1], .oversizedFrame(bytes: 16_385, limit: 16_384)),
        ("nothing", [0, 0, 0, 0], .unknownMessage),
        ("a kind of later", [0, 0, 0, 2, 0x78, 1], .unknownMessage),
        ("no protobuf", [0, 0, 0, 1, 0x0A], .malformedPayload),
        ("a short proof", [0, 0, 0, 3, 0x1A, 1, 7], .identifierLength(.proof, bytes: 1)),
        ("a short answer", [0, 0, 0, 2, 0x22, 0], .identifierLength(.proof, bytes: 0)),
        ("two certificates", [0, 0, 0, 6, 0x2A, 4, 0x0A, 0, 0x0A, 0], .certificateCount(2)),
        (
            "a long name of an invitation", [0, 0, 0, 21, 0x0A, 19, 0x0A, 17] + [UInt8](repeating: 65, count: 17),
            .textTooLong(.invitation, bytes: 17)
        ),
        ("a name that would act on a terminal", [0, 0, 0, 5, 0x0A, 3, 0x12, 1, 0x1B], .controlCharacter(.name)),
        ("a role that would", [0, 0, 0, 5, 0x12, 3, 0x12, 1, 0x1B], .controlCharacter(.role)),
    ]

    @Test("are refused when they are malformed", arguments: malformed)
    func refused(name: String, frame: [UInt8], error: WireFormatError) {
        var bytes = ByteBuffer(bytes: frame)
        #expect(throws: error) { _ = try EnrolmentCodec.decode(&bytes) }
    }

    @Test("are never longer than a peer accepts")
    func tooLong() {
        let long = EnrolmentMessage.terms(root: [UInt8](repeating: 1, count: 16_400), role: "member", name: "a")
        #expect(throws: WireFormatError.self) { _ = try EnrolmentCodec.encode(long) }
    }

    @Test("end in a message or in an error, whatever is done to them", arguments: UInt64(1)...4)
    func mutated(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let frames = try Self.messages.map { [UInt8](buffer: try EnrolmentCodec.encode($0)) }
        var (messages, errors) = (0, 0)
        for _ in 0..<20_000 {
            var frame = frames[Int.random(in: 0..<frames.count, using: &random)]
            for _ in 0...Int.random(in: 0...2, using: &random) {
                frame[Int.random(in: 0..<frame.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            var bytes = ByteBuffer(bytes: frame)
            do { messages += try EnrolmentCodec.decode(&bytes) == nil ? 0 : 1 } catch { errors += 1 }
        }
        #expect(messages > 1_000 && errors > 1_000, "\(messages) messages, \(errors) errors")
    }
}
