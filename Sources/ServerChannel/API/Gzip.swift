import CZlib

/// Packs and unpacks bodies (RFC 1952), in one go: they are bounded.
package enum Gzip {
    /// Why bytes were not unpacked: they are no gzip, or longer than the limit.
    package enum Failure: Error {
        case malformed
        case tooLarge
    }

    /// Window bits of zlib for the largest window with a gzip header.
    private static let windowBits: CInt = 15 + 16
    private static let pieceBytes = 64 << 10

    /// Shorter bodies gain nothing.
    package static let worthwhileBytes = 1_024

    /// Nil when zlib fails; the body then goes as it is.
    package static func pack(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        let size = CInt(MemoryLayout<z_stream>.size)
        // Fast rather than small: journals are packed already.
        guard deflateInit2_(&stream, 3, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        let bound = Int(deflateBound(&stream, uLong(bytes.count)))
        var input = bytes
        var isDone = false
        let packed = [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(output.count)
                isDone = deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
            count = bound - Int(stream.avail_out)
        }
        return isDone ? packed : nil
    }

    /// Stops as soon as the result is longer than `limit`, however small the packed bytes are.
    package static func unpack(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw .malformed
        }
        defer { inflateEnd(&stream) }
        var input = bytes
        var unpacked: [UInt8] = []
        var code = Z_OK
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = uInt(input.count)
            while code == Z_OK, unpacked.count <= limit {
                let piece = [UInt8](unsafeUninitializedCapacity: pieceBytes) { output, count in
                    stream.next_out = output.baseAddress
                    stream.avail_out = uInt(output.count)
                    code = inflate(&stream, Z_NO_FLUSH)
                    count = pieceBytes - Int(stream.avail_out)
                }
                unpacked += piece
                if piece.isEmpty, code == Z_OK { code = Z_DATA_ERROR }
            }
        }
        if unpacked.count > limit { throw .tooLarge }
        guard code == Z_STREAM_END, stream.avail_in == 0 else { throw .malformed }
        return unpacked
    }
}
