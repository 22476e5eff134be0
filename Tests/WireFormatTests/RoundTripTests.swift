import CRDT
import NIOCore
import NIOTestUtils
import Replication
import Simulation
import Testing
import WireFormat

@Suite("Messages on the wire")
struct RoundTripTests {
    @Test("a message is written as the bytes of version 9, and read back from them", arguments: Samples.named)
    func keepsItsBytes(name: String, message: Message) throws {
        let bytes = try Fixtures.bytes("messages", name)
        #expect(try FrameEncoder.encode(message) == bytes)
        #expect(try decodeAlone(bytes) == message)
    }

    @Test("no fixture is left untested")
    func everyFixtureHasASample() throws {
        #expect(try Fixtures.names(in: "messages") == Samples.named.map(\.name).sorted())
    }

    @Test("a conversation is understood however it is cut into chunks")
    func everyChunking() throws {
        var conversation = ByteBuffer()
        let messages = Samples.named.map(\.message) + [Samples.compressible]
        for message in messages {
            conversation.writeImmutableBuffer(try FrameEncoder.encode(message, isCompressing: true))
        }
        for cut in 0...conversation.readableBytes {
            let tail = conversation.readableBytes - cut
            let chunks = [conversation.getSlice(at: 0, length: cut)!, conversation.getSlice(at: cut, length: tail)!]
            #expect(try decode(chunks) == messages, "cut at \(cut)")
        }
        #expect(try decode(conversation.readableBytesView.map { ByteBuffer(bytes: [$0]) }) == messages)
        // The verifier repeats its input on one decoder, so hellos come anywhere.
        let frames = try messages.map { (try FrameEncoder.encode($0, isCompressing: true), [$0]) }
        try ByteToMessageDecoderVerifier.verifyDecoder(inputOutputPairs: frames) {
            FrameDecoder(checksGreeting: false)
        }
    }

    private func decode(_ chunks: [ByteBuffer]) throws -> [Message] {
        var decoder = FrameDecoder()
        var buffer = ByteBuffer()
        var messages: [Message] = []
        for chunk in chunks {
            buffer.writeImmutableBuffer(chunk)
            while let message = try decoder.decode(buffer: &buffer) { messages.append(message) }
        }
        return messages
    }

    @Test("random messages come back as they were", arguments: UInt64(1)...20)
    func randomMessages(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let message = Message.random(using: &random)
            #expect(try decodeAlone(FrameEncoder.encode(message)) == message)
        }
    }

    @Test("the largest lists and pieces fit a frame")
    func largest() throws {
        let longest = String(repeating: "j", count: JobID.longest)
        let summary = JobSummary(job: JobID(longest)!, fingerprint: .max)
        let summaries = Message.summaries(
            bucket: 255, Array(repeating: summary, count: ProtocolLimits.summariesPerMessage))
        let entries = (1...ProtocolLimits.entriesPerVector).map {
            Samples.entry(ReplicaID(UInt128.max - UInt128($0)), ProtocolLimits.sequence, .max)
        }
        let removal = JobRemoval(
            name: String(repeating: "n", count: JobRemoval.longestName), heads: VersionVector(entries))
        let vector = Message.vector(job: JobID(longest)!, VersionVector(entries), end: ToldEnd(removal, knowing: .max))
        let bytes = [UInt8](repeating: 0xa5, count: 3 * ProtocolLimits.deltaBytes)
        let delta = Message.delta(
            job: JobID(longest)!, Samples.segment(first: 1, last: ProtocolLimits.sequence, bytes: bytes), pushed: false)
        for message in [summaries, vector, delta] {
            #expect(try decodeAlone(FrameEncoder.encode(message)) == message)
        }
    }

    @Test("what no peer would accept is not sent")
    func encoderRefuses() {
        let tooMuch = Samples.segment(
            first: 1, last: 2, bytes: [UInt8](repeating: 0, count: ProtocolLimits.frameBytes))
        let head = JournalHead(sequence: 1, digest: 0)
        let refused: [Message] = [
            .delta(job: Samples.job, tooMuch, pushed: true),
            .delta(job: Samples.job, Samples.segment(first: 1, last: 2, bytes: []), pushed: true),
            .delta(job: Samples.job, Samples.segment(first: 3, last: 2, bytes: [1]), pushed: true),
            .request(job: Samples.job, replica: Samples.first, from: 0, credit: 1, graft: false),
            .probe(job: Samples.job, replica: Samples.first, sequence: 0),
            .buckets([1, 2, 3]), .summariesRequest(bucket: 256), .summaries(bucket: 256, []),
            .have(job: Samples.job, [Samples.entry(Samples.first, 0, 0)]),
            .probeAnswer(
                job: Samples.job, replica: Samples.first, ProbeAnswer(sequence: 2, boundary: head, changeHash: 0)),
        ]
        for message in refused {
            #expect(throws: WireFormatError.self) { try FrameEncoder.encode(message) }
        }
    }

    @Test("a long or ugly reason is cut and cleaned, not refused")
    func reason() throws {
        let reason = "a\u{1b}[2J\n" + String(repeating: "é", count: 400)
        let read = try decodeAlone(FrameEncoder.encode(.goodbye(reason)))
        guard case .goodbye(let text) = read else {
            Issue.record("no goodbye: \(read)")
            return
        }
        #expect(text.hasPrefix("a [2J é"))
        #expect((500...ProtocolLimits.reasonBytes).contains(text.utf8.count))
    }

    private func decodeAlone(_ frame: ByteBuffer) throws -> Message {
        try PayloadDecoder.decode(
            #require(frame.getSlice(at: ProtocolLimits.frameHeaderBytes, length: frame.readableBytes - 4)))
    }
}
