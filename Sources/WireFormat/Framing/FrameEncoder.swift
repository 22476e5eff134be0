package import NIOCore
package import Replication
import SwiftProtobuf

/// Makes frames: the payload's length, four bytes big-endian, and the payload.
package enum FrameEncoder {
    /// The whole frame of a message.
    ///
    /// - Parameter version: the newest that both ends speak; by default the one that everybody can read.
    /// - Throws: `WireFormatError` for a message that no peer would accept.
    package static func encode(
        _ message: Replication.Message, version: UInt32 = ProtocolLimits.minimumVersion
    ) throws -> ByteBuffer {
        let limit = if case .hello = message { ProtocolLimits.helloFrameBytes } else { ProtocolLimits.frameBytes }
        return try WireFrame.withFrame(of: message, version: version) { frame in
            let frameBytes: FrameBytes = try frame.serializedBytes()
            guard frameBytes.count <= limit else {
                throw WireFormatError.oversizedFrame(bytes: frameBytes.count, limit: limit)
            }
            return frameBytes.buffer
        }
    }
}
