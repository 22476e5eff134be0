/// The running digest of a journal: a chain of hashes, one per change, that does not depend on how the journal was cut
/// into segments.
package enum JournalDigest {
    /// The digest after a change, from the digest before it and the change's encoded record.
    package static func extend(_ digest: UInt64, with record: UnsafeRawBufferPointer) -> UInt64 {
        SipHash.hash(record, key: (digest, 0x6d75_7374_6572_0001))
    }

    /// The digest after a scanned record: a stub carries it.
    package static func extend(
        _ digest: UInt64, with scanned: ScannedChange, in buffer: UnsafeRawBufferPointer
    ) -> UInt64 {
        scanned.stub?.digest ?? extend(digest, with: UnsafeRawBufferPointer(rebasing: buffer[scanned.record]))
    }

    /// Where a journal stands after a run of encoded changes.
    package static func extend(_ head: JournalHead, with bytes: [UInt8]) throws(CodecError) -> JournalHead {
        var sequence = head.sequence
        var digest = head.digest
        try ChangeCodec.scan(bytes) { scanned, buffer in
            sequence += UInt64(scanned.operationCount)
            digest = extend(digest, with: scanned, in: buffer)
        }
        return JournalHead(sequence: sequence, digest: digest)
    }
}
