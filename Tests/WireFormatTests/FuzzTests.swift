import CRDT
import NIOCore
import Replication
import Testing
import WireFormat

@Suite("A million mutated frames")
struct FuzzTests {
    static let framesPerSeed = 62_500

    /// 16 seeds: one million frames. One after another, so that the tests beside this one have a core too.
    @Test("end in a message or in an error", .serialized, .timeLimit(.minutes(5)), arguments: UInt64(1)...16)
    func mutatedFrames(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let hello = try bytes(Samples.hello)
        let corpus = try (Samples.named.map(\.message) + [Samples.compressible]).map { try bytes($0) }
        var outcomes = Outcomes()
        for number in 0..<Self.framesPerSeed {
            // Other tests run beside this one, and have deadlines.
            if number % 256 == 0 { await Task.yield() }
            var frame = corpus[Int(random.next() % UInt64(corpus.count))]
            for _ in 0...(random.next() % 3) { Self.mutate(&frame, corpus: corpus, using: &random) }
            // One in eight comes first on its connection, the others after a hello.
            outcomes.note(Self.feed(random.next() % 8 == 0 ? frame : hello + frame))
        }
        #expect(outcomes.messages > Self.framesPerSeed / 20)
        #expect(outcomes.errors > Self.framesPerSeed / 5)
        #expect(outcomes.kindsOfError.count > 12, "\(outcomes.kindsOfError.sorted())")
    }

    private func bytes(_ message: Message) throws -> [UInt8] {
        [UInt8](buffer: try FrameEncoder.encode(message, isCompressing: true))
    }

    struct Outcomes {
        var messages = 0
        var errors = 0
        var kindsOfError: Set<String> = []

        mutating func note(_ outcome: Result<Message?, WireFormatError>) {
            switch outcome {
            case .success(let message): messages += message == nil || message == Samples.hello ? 0 : 1
            case .failure(let error):
                errors += 1
                if errors % 16 == 0 { kindsOfError.insert(String("\(error)".prefix(30))) }
            }
        }
    }

    /// What the bytes of one whole connection end in: its last message, or an error.
    private static func feed(_ bytes: [UInt8]) -> Result<Message?, WireFormatError> {
        var buffer = ByteBuffer(bytes: bytes)
        var decoder = FrameDecoder()
        var last: Message?
        do {
            while let message = try decoder.decode(buffer: &buffer) { last = message }
            while let message = try decoder.decodeLast(buffer: &buffer, seenEOF: true) { last = message }
            return .success(last)
        } catch let error as WireFormatError {
            return .failure(error)
        } catch {
            Issue.record("an error of another kind: \(error)")
            return .success(nil)
        }
    }

    private static func mutate(_ frame: inout [UInt8], corpus: [[UInt8]], using random: inout SeededGenerator) {
        guard !frame.isEmpty else { return }
        let position = Int(random.next() % UInt64(frame.count))
        switch random.next() % 7 {
        case 0: frame[position] ^= 1 << UInt8(random.next() % 8)
        case 1: frame[position] = UInt8(truncatingIfNeeded: random.next())
        case 2: frame.removeSubrange(position...)
        case 3:
            let donor = corpus[Int(random.next() % UInt64(corpus.count))]
            frame.replaceSubrange(position..., with: donor.suffix(Int(random.next() % UInt64(donor.count))))
            writeLength(&frame)
        case 4:
            // A lie about the length, mostly a small one.
            let lie = random.next() % 2 == 0 ? random.next() : UInt64(frame.count) &+ random.next() % 9 &- 8
            for index in 0..<min(4, frame.count) { frame[index] = UInt8(truncatingIfNeeded: lie >> (24 - 8 * index)) }
        case 5:
            frame.remove(at: position)
            writeLength(&frame)
        default:
            frame.insert(UInt8(truncatingIfNeeded: random.next()), at: position)
            writeLength(&frame)
        }
    }

    /// Makes the length true again, so that what is behind it is looked at.
    private static func writeLength(_ frame: inout [UInt8]) {
        guard frame.count >= 4 else { return }
        let length = frame.count - 4
        for index in 0..<4 { frame[index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
    }
}
