import CRDT
import FoundationEssentials
import Replication

extension WireVector {
    init(job: JobID, entries: [VersionVector.Entry]) throws {
        try Self.check(entries)
        self.job = job.text
        replicas.reserveCapacity(entries.count * ReplicaID.wireBytes)
        for entry in entries { replicas.append(entry.replica.wire) }
        sequences = entries.map(\.head.sequence)
        digests = entries.map(\.head.digest)
    }

    /// The entries, in the order in which they were sent.
    func entries() throws -> [VersionVector.Entry] {
        guard digests.count == sequences.count, replicas.count == sequences.count * ReplicaID.wireBytes else {
            throw WireFormatError.unevenColumns(.entries)
        }
        let entries = replicas.withUnsafeBytes { bytes in
            sequences.indices.map { index in
                let offset = index * ReplicaID.wireBytes
                let replica = UInt128(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt128.self))
                let head = JournalHead(sequence: sequences[index], digest: digests[index])
                return VersionVector.Entry(replica: ReplicaID(replica), head: head)
            }
        }
        try Self.check(entries)
        return entries
    }

    /// The entries as a vector, which they are only if they ascend.
    func vector() throws -> VersionVector {
        let entries = try entries()
        guard zip(entries, entries.dropFirst()).allSatisfy({ $0.replica < $1.replica }) else {
            throw WireFormatError.unsortedVector
        }
        return VersionVector(entries)
    }

    private static func check(_ entries: [VersionVector.Entry]) throws {
        guard entries.count <= ProtocolLimits.entriesPerVector else {
            throw WireFormatError.tooManyEntries(.entries, count: entries.count)
        }
        guard entries.allSatisfy({ $0.head.sequence >= 1 }) else { throw WireFormatError.sequenceZero(.entries) }
        guard entries.allSatisfy({ $0.head.sequence <= ProtocolLimits.sequence }) else {
            throw WireFormatError.sequenceTooLarge(.entries)
        }
    }
}
