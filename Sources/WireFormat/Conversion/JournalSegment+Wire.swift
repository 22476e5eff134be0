import CRDT
import FoundationEssentials
import Replication

extension WireDelta {
    /// Calls `body` with the delta of a segment; the delta must not outlive the call.
    ///
    /// Its bytes are the segment's own, not a copy: a segment is up to a quarter of a megabyte, and sent to many.
    /// They go compressed where that is wanted and makes them smaller.
    static func withDelta<Result>(
        job: JobID, segment: JournalSegment, pushed: Bool, isCompressing: Bool, _ body: (WireDelta) throws -> Result
    ) throws -> Result {
        let compressed = isCompressing ? Zstandard.compress(segment.bytes) : nil
        var delta = WireDelta()
        delta.job = job.text
        delta.replica = segment.replica.wire
        delta.first = segment.first
        delta.last = segment.head.sequence
        delta.digest = segment.head.digest.wire
        delta.signature = Data(segment.signature?.bytes ?? [])
        if let author = segment.author { delta.author = WireAuthor(author) }
        delta.pushed = pushed
        return try (compressed ?? segment.bytes).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else { throw WireFormatError.emptySegment }
            let run = Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
            delta.run = compressed == nil ? .changes(run) : .compressed(run)
            try delta.checkRange()
            return try body(delta)
        }
    }

    func segment() throws -> JournalSegment {
        try checkRange()
        let bytes = try runBytes()
        guard !bytes.isEmpty else { throw WireFormatError.emptySegment }
        return JournalSegment(
            replica: try ReplicaID(wire: replica), first: first,
            head: JournalHead(sequence: last, digest: try JournalDigest(wire: digest)), bytes: bytes,
            signature: try signed(), author: hasAuthor ? try author.author() : nil)
    }

    private func signed() throws -> JournalSignature? {
        guard !signature.isEmpty else { return nil }
        guard let signature = JournalSignature([UInt8](signature)) else {
            throw WireFormatError.identifierLength(.signature, bytes: signature.count)
        }
        return signature
    }

    private func runBytes() throws -> [UInt8] {
        switch run {
        case .changes(let bytes): [UInt8](bytes)
        case .compressed(let bytes): try Zstandard.decompress(bytes)
        case nil: []
        }
    }

    private func checkRange() throws {
        guard first >= 1 else { throw WireFormatError.sequenceZero(.first) }
        guard last >= first else { throw WireFormatError.backwardsSegment(first: first, last: last) }
        guard last <= ProtocolLimits.sequence else { throw WireFormatError.sequenceTooLarge(.last) }
    }
}
