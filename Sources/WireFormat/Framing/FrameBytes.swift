import NIOCore
import Replication
import SwiftProtobuf

/// A frame into which SwiftProtobuf writes its payload in place, so that it need not be copied behind its length.
struct FrameBytes: SwiftProtobufContiguousBytes {
    /// Length and payload.
    private(set) var buffer: ByteBuffer

    init(repeating byte: UInt8, count: Int) {
        buffer = ByteBuffer()
        buffer.reserveCapacity(ProtocolLimits.frameHeaderBytes + count)
        buffer.writeInteger(UInt32(clamping: count))
        buffer.writeRepeatingByte(byte, count: count)
    }

    init<Bytes: Sequence>(_ sequence: Bytes) where Bytes.Element == UInt8 {
        let payload = ByteBuffer(bytes: sequence)
        buffer = ByteBuffer(integer: UInt32(clamping: payload.readableBytes))
        buffer.writeImmutableBuffer(payload)
    }

    /// The payload's length.
    var count: Int { buffer.readableBytes - ProtocolLimits.frameHeaderBytes }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try buffer.withUnsafeReadableBytes { bytes in
            try body(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(ProtocolLimits.frameHeaderBytes)))
        }
    }

    mutating func withUnsafeMutableBytes<Result>(
        _ body: (UnsafeMutableRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try buffer.withUnsafeMutableReadableBytes { bytes in
            try body(UnsafeMutableRawBufferPointer(rebasing: bytes.dropFirst(ProtocolLimits.frameHeaderBytes)))
        }
    }
}
