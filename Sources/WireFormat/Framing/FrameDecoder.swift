package import NIOCore
package import Replication

/// Finds frames in the bytes of one connection, and messages in frames.
///
/// The first message must be a hello, within its smaller limit, and no later one may be. A length over the limit is
/// refused before any of the frame is awaited. After an error the connection is of no further use.
package struct FrameDecoder: NIOSingleStepByteToMessageDecoder {
    /// What NIO is handed for each frame.
    package typealias InboundOut = Message

    private let checksGreeting: Bool
    private var hasGreeted: Bool

    /// Without the check of greetings it reads frames from the middle of a conversation, and hellos anywhere.
    package init(checksGreeting: Bool = true) {
        self.checksGreeting = checksGreeting
        hasGreeted = !checksGreeting
    }

    /// What the next frame's payload may be long, in bytes.
    package var frameLimit: Int { hasGreeted ? ProtocolLimits.frameBytes : ProtocolLimits.helloFrameBytes }

    /// Takes the message of the next frame off the buffer; nil until the whole frame is there.
    ///
    /// - Throws: `WireFormatError`, for a frame that is too long already when its length is there.
    package mutating func decode(buffer: inout ByteBuffer) throws -> Message? {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return nil }
        guard length <= frameLimit else {
            throw WireFormatError.oversizedFrame(bytes: Int(length), limit: frameLimit)
        }
        let frameLength = ProtocolLimits.frameHeaderBytes + Int(length)
        guard
            let payload = buffer.getSlice(at: buffer.readerIndex + ProtocolLimits.frameHeaderBytes, length: Int(length))
        else {
            buffer.reserveCapacity(minimumWritableBytes: frameLength - buffer.readableBytes)
            return nil
        }
        let message = try PayloadDecoder.decode(payload)
        try checkGreeting(message)
        buffer.moveReaderIndex(forwardBy: frameLength)
        return message
    }

    /// As `decode`, when nothing more will come.
    ///
    /// - Throws: `WireFormatError`, also for the beginning of a frame that is left at the end.
    package mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws -> Message? {
        if let message = try decode(buffer: &buffer) { return message }
        if seenEOF, buffer.readableBytes > 0 { throw WireFormatError.truncatedFrame(bytes: buffer.readableBytes) }
        return nil
    }

    private mutating func checkGreeting(_ message: Message) throws {
        guard checksGreeting else { return }
        switch (message, hasGreeted) {
        case (.hello, true): throw WireFormatError.helloRepeated
        case (.hello, false): hasGreeted = true
        case (_, true): break
        case (_, false): throw WireFormatError.helloMissing
        }
    }
}
