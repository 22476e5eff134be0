import CRDT
import FoundationEssentials
import Replication

extension WireDelta {
    /// Calls `body` with the delta of a segment; the delta must not outlive the call.
    ///
    /// Its bytes are the segment's own, not a copy: a segment is up to a quarter of a megabyte, and sent to many.
    static func withDelta<Result>(
        job: JobID, segment: JournalSegment, pushed: Bool, _ body: (WireDelta) throws -> Result
    ) throws -> Result {
        var delta = WireDelta()
        delta.job = job.text
        delta.replica = segment.replica.wire
        delta.first = segment.first
        delta.last = segment.head.sequence
        delta.digest = segment.head.digest
        delta.pushed = pushed
        return try segment.bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else { throw WireFormatError.emptySegment }
            delta.changes = Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
            try delta.checkRange()
            return try body(delta)
        }
    }

    func segment() throws -> JournalSegment {
        guard !changes.isEmpty else { throw WireFormatError.emptySegment }
        try checkRange()
        return JournalSegment(
            replica: try ReplicaID(wire: replica), first: first, head: JournalHead(sequence: last, digest: digest),
            bytes: [UInt8](changes))
    }

    private func checkRange() throws {
        guard first >= 1 else { throw WireFormatError.sequenceZero(.first) }
        guard last >= first else { throw WireFormatError.backwardsSegment(first: first, last: last) }
        guard last <= ProtocolLimits.sequence else { throw WireFormatError.sequenceTooLarge(.last) }
    }
}
