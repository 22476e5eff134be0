import CRDT
import NIOCore
import Replication
import Testing
import WireFormat

@Suite("Compressed runs")
struct CompressionTests {
    @Test("a run is read as it was once compressed")
    func keepsItsMeaning() throws {
        #expect(try Fixtures.names(in: "compressed") == ["delta"])
        #expect(try decode(Fixtures.bytes("compressed", "delta")) == Samples.compressible)
    }

    @Test("a run goes as it is unless it is to be compressed")
    func asItIs() throws {
        let frame = try FrameEncoder.encode(Samples.compressible)
        #expect(frame.readableBytesView.contains(Samples.compressible.run), "the run stands in the frame as it is")
        #expect(try FrameEncoder.encode(Samples.compressible, isCompressing: true).readableBytes < 300)
    }

    @Test("runs of any length come back as they were, and never take more than uncompressed", arguments: UInt64(1)...6)
    func randomRuns(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var smaller = 0
        for _ in 0..<50 {
            let message = Self.delta(using: &random)
            let frame = try FrameEncoder.encode(message, isCompressing: true)
            #expect(try decode(frame) == message)
            let plain = try FrameEncoder.encode(message)
            #expect(frame.readableBytes <= plain.readableBytes)
            if frame.readableBytes < plain.readableBytes { smaller += 1 }
        }
        #expect((5...45).contains(smaller), "\(smaller) of 50 were compressed")
    }

    @Test("short runs and random ones go as they are", arguments: [1, 16, 127, 5_000, 100_000])
    func notWorthwhile(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let bytes = (0..<count).map { _ in count < 128 ? 7 : UInt8.random(in: 0...255, using: &random) }
        let message = Self.delta(bytes)
        #expect(try FrameEncoder.encode(message, isCompressing: true) == FrameEncoder.encode(message))
    }

    @Test("the longest run is compressed, and a longer one would not be read")
    func longest() throws {
        let limit = ProtocolLimits.compressedRunBytes
        let longest = Self.delta([UInt8](repeating: 7, count: limit))
        let frame = try FrameEncoder.encode(longest, isCompressing: true)
        #expect(frame.readableBytes < 1_000)
        #expect(try decode(frame) == longest)
        // Who relays it may have to send it as it is: what fits no frame is refused for everybody.
        let longer = Self.delta([UInt8](repeating: 7, count: limit + 1))
        #expect(try FrameEncoder.encode(longer, isCompressing: true) == FrameEncoder.encode(longer))
        let tooLong = Self.delta([UInt8](repeating: 7, count: ProtocolLimits.frameBytes))
        #expect(throws: WireFormatError.self) { try FrameEncoder.encode(tooLong, isCompressing: true) }
    }

    @Test("a broken run becomes an error or a run within the limit", .timeLimit(.minutes(1)), arguments: UInt64(1)...4)
    func brokenRuns(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let whole = try FrameEncoder.encode(Samples.compressible, isCompressing: true)
        var errors: [WireFormatError: Int] = [:]
        for _ in 0..<2_000 {
            var broken = [UInt8](whole.readableBytesView)
            for _ in 0...(random.next() % 2) {
                // The run stands at the end, before the digest's 34 bytes.
                let place = Int.random(in: broken.count - 174..<broken.count - 34, using: &random)
                broken[place] = UInt8.random(in: 0...255, using: &random)
            }
            do {
                let message = try decode(ByteBuffer(bytes: broken))
                #expect(message.run.count <= ProtocolLimits.compressedRunBytes)
            } catch let error as WireFormatError {
                errors[error, default: 0] += 1
            }
        }
        #expect(errors[.malformedCompression] ?? 0 > 400, "\(errors)")
    }

    private static func delta(_ bytes: [UInt8]) -> Message {
        .delta(job: Samples.job, Samples.segment(first: 1, last: 2, bytes: bytes), pushed: false)
    }

    /// Of few different bytes or of many, so that it can be compressed or not.
    private static func delta(using random: inout SeededGenerator) -> Message {
        let count = Int.random(in: 1...1 << Int.random(in: 1...15, using: &random), using: &random)
        let kinds = UInt8.random(in: 1...255, using: &random) >> UInt8.random(in: 0...7, using: &random)
        return delta((0..<count).map { _ in UInt8.random(in: 0...kinds, using: &random) })
    }

    private func decode(_ frame: ByteBuffer) throws -> Message {
        var decoder = FrameDecoder(checksGreeting: false)
        var bytes = frame
        return try #require(try decoder.decodeLast(buffer: &bytes, seenEOF: true))
    }
}

extension Message {
    /// The bytes of a piece of a journal.
    var run: [UInt8] { if case .delta(_, let segment, _) = self { segment.bytes } else { [] } }
}
