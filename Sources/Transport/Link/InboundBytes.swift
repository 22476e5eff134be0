import NIOCore
import Replication
import WireFormat

/// What came from a peer and was not yet taken: at most one frame, or the read-ahead, and what one read brings.
struct InboundBytes {
    /// Bytes that may wait here while whole frames are taken one by one.
    static let readAheadBytes = 64 << 10

    private var buffer = ByteBuffer()
    private var decoder = FrameDecoder()
    private(set) var totalBytes: UInt64 = 0

    mutating func append(_ bytes: ByteBuffer) {
        totalBytes += UInt64(bytes.readableBytes)
        guard buffer.readableBytes > 0 else {
            buffer = bytes
            return
        }
        // In a stream that never pauses the buffer is never empty: what was taken must make room.
        if buffer.readerIndex > buffer.readableBytes { buffer.discardReadBytes() }
        buffer.writeImmutableBuffer(bytes)
    }

    /// Is there something to take: a whole frame, or a length that no frame may have?
    var hasFrame: Bool {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return false }
        return length > decoder.frameLimit
            || buffer.readableBytes >= ProtocolLimits.frameHeaderBytes + Int(length)
    }

    /// Should more be read now?
    var wantsMore: Bool { buffer.readableBytes < Self.readAheadBytes || !hasFrame }

    mutating func next() throws -> Message? {
        let message = try decoder.decode(buffer: &buffer)
        // An idle link holds no memory.
        if buffer.readableBytes == 0 { buffer = ByteBuffer() }
        return message
    }

    /// Nothing more will come.
    mutating func last() throws -> Message? {
        try decoder.decodeLast(buffer: &buffer, seenEOF: true)
    }
}
