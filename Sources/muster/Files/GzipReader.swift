import CZlib
import LocalAPI

/// Unpacks a file of gzip (RFC 1952) in pieces, however large it becomes: what lies in memory is bounded.
final class GzipReader {
    /// What every such file begins with.
    static let magic: [UInt8] = [0x1F, 0x8B]

    /// An inventory shrinks to a tenth. What unpacks to more than this, and to over a hundred times its size, is none.
    private static let harmlessBytes = 64 << 20
    private static let greatestRatio = 100
    private static let pieceBytes = 128 << 10
    /// Window bits of zlib for the largest window with a gzip header.
    private static let windowBits: CInt = 15 + 16

    /// zlib keeps the address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var packed: [UInt8] = []
    private var packedBytes = 0
    private var unpackedBytes = 0
    /// Several may follow each other in a file.
    private var isBetweenMembers = true

    init() {
        stream.initialize(to: z_stream())
        inflateInit2_(stream, Self.windowBits, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Takes what comes next in the file; `next` has given nil before.
    func add(_ piece: [UInt8]) {
        packed += piece
        packedBytes += piece.count
    }

    /// The next piece of the text; nil where more of the file is needed.
    func next() throws(APIError) -> [UInt8]? {
        while true {
            var code = Z_OK
            let piece = packed.withUnsafeMutableBufferPointer { input in
                stream.pointee.next_in = input.baseAddress
                stream.pointee.avail_in = uInt(input.count)
                return [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { output, count in
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = uInt(output.count)
                    code = inflate(stream, Z_NO_FLUSH)
                    count = Self.pieceBytes - Int(stream.pointee.avail_out)
                }
            }
            let used = packed.count - Int(stream.pointee.avail_in)
            packed.removeFirst(used)
            if used > 0 { isBetweenMembers = false }
            switch code {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END:
                isBetweenMembers = true
                inflateReset(stream)
            default: throw Self.damaged("it is damaged in the midst")
            }
            unpackedBytes += piece.count
            guard unpackedBytes <= max(Self.harmlessBytes, Self.greatestRatio * packedBytes) else {
                throw APIError(
                    .invalidValue,
                    "The file unpacks to more than \(Self.greatestRatio) times its size, as no inventory does: unpack it with "
                        + "gzip -d and look at it.")
            }
            if !piece.isEmpty { return piece }
            if code == Z_BUF_ERROR || packed.isEmpty { return nil }
        }
    }

    /// Throws where the file ends too early.
    func finish() throws(APIError) {
        guard isBetweenMembers else { throw Self.damaged("it ends too early") }
    }

    private static func damaged(_ finding: String) -> APIError {
        APIError(.invalidValue, "The compressed file cannot be unpacked, \(finding): copy it anew.")
    }
}
