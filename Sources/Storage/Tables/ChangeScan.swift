import CRDT

extension ChangeCodec {
    /// As `scan`, for a body that may fail: the first error ends it, and is thrown once the run has been checked.
    static func forEach(
        _ bytes: [UInt8], _ body: (ScannedChange, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var failure: (any Error)?
        try scan(bytes) { scanned, buffer in
            guard failure == nil else { return }
            do { try body(scanned, buffer) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
