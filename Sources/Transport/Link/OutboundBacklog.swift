import NIOCore

/// What waits to be written to a peer, counted from `send` until the kernel has taken it.
struct OutboundBacklog {
    enum Verdict {
        case accepted
        /// Over the limit: the peer does not read.
        case overflowed
    }

    /// What a frame costs on top of its bytes until it is written: many small ones weigh more than they are long.
    static let frameCostBytes = 512

    let highWaterBytes: Int
    let lowWaterBytes: Int
    let limitBytes: Int

    /// What is written at once: small frames together, a large one alone.
    struct Piece {
        let bytes: ByteBuffer
        let frameCount: Int
    }

    private static let pieceBytes = 1 << 16

    private var frames = CircularBuffer<ByteBuffer>()
    /// With the cost of each frame.
    private(set) var bytes = 0
    private(set) var totalWrittenBytes: UInt64 = 0
    private(set) var isCongested = false

    init(_ configuration: TransportConfiguration) {
        highWaterBytes = configuration.highWaterBytes
        lowWaterBytes = configuration.lowWaterBytes
        limitBytes = configuration.backlogLimitBytes
    }

    mutating func append(_ frame: ByteBuffer) -> Verdict {
        let cost = frame.readableBytes + Self.frameCostBytes
        guard bytes + cost <= limitBytes else { return .overflowed }
        bytes += cost
        frames.append(frame)
        if bytes > highWaterBytes { isCongested = true }
        return .accepted
    }

    /// What comes next of that which was not yet handed to the channel.
    mutating func next() -> Piece? {
        guard var bytes = frames.popFirst() else { return nil }
        var frameCount = 1
        while let following = frames.first, bytes.readableBytes + following.readableBytes <= Self.pieceBytes {
            bytes.writeImmutableBuffer(frames.removeFirst())
            frameCount += 1
        }
        return Piece(bytes: bytes, frameCount: frameCount)
    }

    /// A piece of so many bytes was written.
    mutating func written(_ count: Int, frameCount: Int) {
        bytes -= count + frameCount * Self.frameCostBytes
        totalWrittenBytes += UInt64(count)
        if bytes <= lowWaterBytes { isCongested = false }
    }
}
