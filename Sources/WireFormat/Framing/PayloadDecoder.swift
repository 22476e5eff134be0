package import NIOCore
package import Replication
import SwiftProtobuf

/// Reads the payload of one frame, wherever in a conversation it may stand.
package enum PayloadDecoder {
    /// Throws a `WireFormatError` for anything but one whole, sound message.
    package static func decode(_ payload: ByteBuffer) throws -> Replication.Message {
        try Message(frame(payload))
    }

    private static func frame(_ payload: ByteBuffer) throws -> WireFrame {
        var options = BinaryDecodingOptions()
        options.discardUnknownFields = true
        options.messageDepthLimit = 4
        do {
            return try WireFrame(serializedBytes: payload.readableBytesSpan, options: options)
        } catch {
            throw WireFormatError.malformedPayload
        }
    }
}
