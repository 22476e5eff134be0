import NIOCore
package import Replication

/// One side of a conversation in a file: the frames that a link carries, one behind the other.
package struct RecordedMessages {
    private var decoder = FrameDecoder()
    private var buffer = ByteBuffer()

    /// Begins before the hello.
    package init() {}

    /// The frame of a message, with its runs of journals compressed where that makes them smaller.
    ///
    /// - Throws: `WireFormatError` for a message that no peer would accept.
    package static func frame(of message: Replication.Message) throws -> [UInt8] {
        Array(try FrameEncoder.encode(message, isCompressing: true).readableBytesView)
    }

    /// More of them has come.
    package mutating func add(_ bytes: [UInt8]) {
        buffer.discardReadBytes()
        buffer.writeBytes(bytes)
    }

    /// The next message; nil until more has come.
    ///
    /// - Throws: `WireFormatError`; what follows cannot be read.
    package mutating func next() throws -> Replication.Message? { try decoder.decode(buffer: &buffer) }

    /// Whether nothing of a frame is left over.
    package var isAtEnd: Bool { buffer.readableBytes == 0 }
}
