package import CRDT
import Crypto

/// The running digest of a journal: a chain with one link per change, that does not depend on how the journal was cut
/// into segments.
///
/// Each link is the SHA-256 (FIPS 180-4) of the one before, 32 bytes, and the change's record, which tells its own length. So
/// nobody finds a second journal with the head of one that was signed.
extension JournalDigest {
    /// The next link.
    package func after(_ record: UnsafeRawBufferPointer) -> JournalDigest {
        var hash = SHA256()
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { hash.update(bufferPointer: $0) }
        hash.update(bufferPointer: record)
        let link = hash.finalize().halves
        return JournalDigest(high: link.high, low: link.low)
    }
}

extension SHA256.Digest {
    /// Its 32 bytes as two big-endian numbers.
    var halves: (high: UInt128, low: UInt128) {
        withUnsafeBytes { bytes in
            (
                UInt128(bigEndian: bytes.loadUnaligned(as: UInt128.self)),
                UInt128(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt128.self))
            )
        }
    }
}

extension JournalHead {
    /// Where the journal stands after one more change.
    package func after(_ scanned: ScannedChange, in buffer: UnsafeRawBufferPointer) -> JournalHead {
        JournalHead(
            sequence: sequence + UInt64(scanned.operationCount),
            digest: digest.after(UnsafeRawBufferPointer(rebasing: buffer[scanned.record])))
    }

    /// Where it stands after a run of encoded changes.
    package func after(_ bytes: [UInt8]) throws(CodecError) -> JournalHead {
        var head = self
        try ChangeCodec.scan(bytes) { scanned, buffer in head = head.after(scanned, in: buffer) }
        return head
    }
}
