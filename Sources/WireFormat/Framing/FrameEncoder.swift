package import NIOCore
package import Replication
import SwiftProtobuf

/// Makes frames: the payload's length, four bytes big-endian, and the payload.
package enum FrameEncoder {
    /// The whole frame of a message.
    ///
    /// - Parameter isCompressing: runs of journals go compressed where that makes them smaller.
    /// - Throws: `WireFormatError` for a message that no peer would accept.
    package static func encode(
        _ message: Replication.Message, isCompressing: Bool = false
    ) throws -> ByteBuffer {
        let limit = if case .hello = message { ProtocolLimits.helloFrameBytes } else { ProtocolLimits.frameBytes }
        return try WireFrame.withFrame(of: message, isCompressing: isCompressing) { frame in
            let frameBytes: FrameBytes = try frame.serializedBytes()
            guard frameBytes.count <= limit else {
                throw WireFormatError.oversizedFrame(bytes: frameBytes.count, limit: limit)
            }
            return frameBytes.buffer
        }
    }
}
