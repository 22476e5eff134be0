import CRDT
import Testing

@Suite("Requests to the server, and its answers")
struct RequestTests {
    private static let request = MutationRequest(
        token: MutationToken(0x0123_4567_89AB_CDEF << 64 | 7), lane: "state", after: MutationToken(6), priority: 200,
        kind: "advanceState", payload: Array(#"{"state":"completed"}"#.utf8),
        signature: RequestSignature(
            key: Array(repeating: 0xA1, count: 32), nonce: 0xB2 << 64 | 0xC3, value: Array(repeating: 0xD4, count: 64))
            ?? .none)

    private static let operations: [Operation] = [
        .request(request),
        .request(
            MutationRequest(token: MutationToken(0), lane: "a", after: nil, priority: 0, kind: "b", payload: [])),
        .withdraw(MutationToken(9)), .outcome(Outcome(token: MutationToken(7), verdict: .accepted)),
        .outcome(Outcome(token: MutationToken(8), verdict: .rejected, reason: "Nothing leaves completed.")),
        .publish(PublishedValue(name: "state", value: "completed")),
    ]

    /// As the first program that knew them wrote them: a journal is read for ever.
    private static let fixture = """
        c003000000000000000000000000000000000000000000000009000006060123456789abcdef000000000000000701000000\
        00000000000000000000000006c80573746174650c616476616e63655374617465157b227374617465223a22636f6d706c65\
        746564227da1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a100000000000000b20000000000\
        0000c3d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4\
        d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4060000000000000000000000000000000000000161016200000000000000000000\
        0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\
        0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\
        0000000700000000000000000000000000000009080000000000000000000000000000000701000800000000000000000000\
        00000000000802194e6f7468696e67206c656176657320636f6d706c657465642e0905737461746509636f6d706c65746564
        """

    private static func encoded(_ operations: [Operation]) -> [UInt8] {
        ChangeCodec.encode(Change(item: .job, stamp: Stamp(rawValue: 9), operations: operations))
    }

    @Test("Each is read as it was written, and means nothing to the item")
    func roundTrip() throws {
        let change = Change(item: .job, stamp: Stamp(rawValue: 9), operations: Self.operations)
        let bytes = ChangeCodec.encode(change)
        #expect(try ChangeCodec.decodeAll(bytes) == [change])
        var state = ItemState()
        state.apply(change, in: ReplicaID(1))
        #expect(state == ItemState())
        for length in 1..<bytes.count {
            #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(Array(bytes[..<length])) }
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                guard let changes = try? ChangeCodec.decodeAll(damaged) else { continue }
                #expect(changes.flatMap(ChangeCodec.encode) == damaged)
            }
        }
    }

    @Test("What is out of bounds is refused")
    func refused() {
        func request(
            lane: String = "a", kind: String = "b", payload: Int = 0, after: MutationToken? = nil
        ) -> Operation {
            .request(
                MutationRequest(
                    token: MutationToken(1), lane: lane, after: after, priority: 0, kind: kind,
                    payload: Array(repeating: 0x20, count: payload)))
        }
        let flawed = [
            request(lane: ""), request(lane: "a b"), request(kind: "ä"),
            request(kind: String(repeating: "k", count: 65)),
            request(payload: 64 << 10 + 1), request(after: MutationToken(1)),
            .outcome(
                Outcome(token: MutationToken(1), verdict: .rejected, reason: String(repeating: "r", count: 1_025))),
        ]
        for operation in flawed {
            #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(Self.encoded([operation])) }
        }
        let elsewhere = Change(item: ItemID(4), stamp: .zero, operations: [request()])
        #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(ChangeCodec.encode(elsewhere)) }
        #expect(throws: Never.self) { try ChangeCodec.decodeAll(Self.encoded([request(payload: 64 << 10)])) }
    }

    @Test("Bytes of the first program that wrote them are read as they were meant")
    func fixtureIsRead() throws {
        let digits = Array(Self.fixture.utf8)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16) ?? 0
        }
        let change = Change(item: .job, stamp: Stamp(rawValue: 9), operations: Self.operations)
        #expect(try ChangeCodec.decodeAll(bytes) == [change])
        #expect(ChangeCodec.encode(change) == bytes)
    }
}
