import CRDT
import FoundationEssentials
import Replication

extension WireDelta {
    /// Calls `body` with the delta of a segment; the delta must not outlive the call.
    ///
    /// Its bytes are the segment's own, not a copy: a segment is up to a quarter of a megabyte, and sent to many.
    /// They go compressed where that makes them smaller and the peer can read it.
    static func withDelta<Result>(
        job: JobID, segment: JournalSegment, pushed: Bool, version: UInt32, _ body: (WireDelta) throws -> Result
    ) throws -> Result {
        let compressed = version >= ProtocolLimits.compressionVersion ? Zstandard.compress(segment.bytes) : nil
        var delta = WireDelta()
        delta.job = job.text
        delta.replica = segment.replica.wire
        delta.first = segment.first
        delta.last = segment.head.sequence
        delta.digest = segment.head.digest
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
            replica: try ReplicaID(wire: replica), first: first, head: JournalHead(sequence: last, digest: digest),
            bytes: bytes)
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
