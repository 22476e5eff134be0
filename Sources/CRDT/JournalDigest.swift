/// The running digest of a journal: a chain with one link per change, that does not depend on how the journal was cut
/// into segments.
package enum JournalDigest {
    /// The hash of one change's record.
    package static func hash(_ record: UnsafeRawBufferPointer) -> UInt64 {
        SipHash.hash(record, key: (0, 0x6d75_7374_6572_0001))
    }

    /// The digest after a change, from the digest before it.
    package static func extend(
        _ digest: UInt64, with scanned: ScannedChange, in buffer: UnsafeRawBufferPointer
    ) -> UInt64 {
        extend(digest, with: scanned.hash(in: buffer))
    }

    /// Where a journal stands after a run of encoded changes.
    package static func extend(_ head: JournalHead, with bytes: [UInt8]) throws(CodecError) -> JournalHead {
        var head = head
        try ChangeCodec.scan(bytes) { scanned, buffer in head = head.after(scanned, in: buffer) }
        return head
    }

    private static func extend(_ digest: UInt64, with hash: UInt64) -> UInt64 {
        withUnsafeBytes(of: hash.littleEndian) { SipHash.hash($0, key: (digest, 0x6d75_7374_6572_0002)) }
    }
}

extension JournalHead {
    /// Where the journal stands after one more change.
    package func after(_ scanned: ScannedChange, in buffer: UnsafeRawBufferPointer) -> JournalHead {
        JournalHead(
            sequence: sequence + UInt64(scanned.operationCount),
            digest: JournalDigest.extend(digest, with: scanned, in: buffer))
    }
}

extension ScannedChange {
    /// The hash of the change's record. Of two branches of a journal the one stays whose first change has the smaller one
    /// (rule R9).
    package func hash(in buffer: UnsafeRawBufferPointer) -> UInt64 {
        JournalDigest.hash(UnsafeRawBufferPointer(rebasing: buffer[record]))
    }
}
