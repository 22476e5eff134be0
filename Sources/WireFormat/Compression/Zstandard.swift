import CZstd
import FoundationEssentials
import Replication
import Synchronization

/// Compresses runs of journals (Zstandard, RFC 8878). Each is one frame that says how long the run is and needs no other.
///
/// One context in each direction serves the whole process, 0.7 MB together, so that no link holds memory for it.
enum Zstandard {
    /// Shorter runs hardly get smaller.
    static let worthwhileBytes = 128
    /// In the journals of an inventory the ids are random and all else recurs within an item or two: higher levels look
    /// farther, take longer and find less.
    private static let level: CInt = 1

    private static let compressor = Mutex(Context(pointer: ZSTD_createCCtx()))
    private static let decompressor = Mutex(Context(pointer: ZSTD_createDCtx()))

    /// A context of the library; nil without memory for it. Only who has the lock around it uses it.
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer?
    }

    /// Nil for a run that does not get smaller by an eighth: to read it would cost more than it saves.
    static func compress(_ run: [UInt8]) -> [UInt8]? {
        guard (worthwhileBytes...ProtocolLimits.compressedRunBytes).contains(run.count) else { return nil }
        // Where it has no more room than that, zstd gives up early.
        let room = run.count - run.count / 8
        let compressed = [UInt8](unsafeUninitializedCapacity: room) { output, count in
            count = run.withUnsafeBytes { input in
                compressor.withLock { context in
                    guard let context = context.pointer else { return 0 }
                    return written(
                        ZSTD_compressCCtx(context, output.baseAddress, room, input.baseAddress, input.count, level))
                }
            }
        }
        return compressed.isEmpty ? nil : compressed
    }

    /// Allocates no more than the limit of a run, and nothing for a frame that is not whole.
    ///
    /// - Throws: `WireFormatError` for anything but one frame that gives as many bytes as it says.
    static func decompress(_ compressed: Data) throws -> [UInt8] {
        try compressed.withUnsafeBytes { input in
            // The library also reads its formats from before the standard, by older code, and frames that are to be skipped.
            guard input.starts(with: magicNumber),
                ZSTD_findFrameCompressedSize(input.baseAddress, input.count) == input.count
            else { throw WireFormatError.malformedCompression }
            let declared = ZSTD_getFrameContentSize(input.baseAddress, input.count)
            guard declared < undeclared else { throw WireFormatError.malformedCompression }
            guard declared <= ProtocolLimits.compressedRunBytes else {
                throw WireFormatError.oversizedRun(bytes: declared)
            }
            let run = [UInt8](unsafeUninitializedCapacity: Int(declared)) { output, count in
                count = decompressor.withLock { context in
                    guard let context = context.pointer else { return 0 }
                    return written(
                        ZSTD_decompressDCtx(
                            context, output.baseAddress, Int(declared), input.baseAddress, input.count))
                }
            }
            guard run.count == declared else { throw WireFormatError.malformedCompression }
            return run
        }
    }

    /// What a call has written, in bytes: nothing where its result stands for an error.
    private static func written(_ result: Int) -> Int { ZSTD_isError(result) == 0 ? result : 0 }

    /// The first bytes of each frame (RFC 8878 section 3.1.1).
    private static let magicNumber: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd]
    /// From here on a size stands for "not told" and "no frame": ZSTD_CONTENTSIZE_ERROR and ZSTD_CONTENTSIZE_UNKNOWN.
    private static let undeclared = UInt64.max - 1
}
