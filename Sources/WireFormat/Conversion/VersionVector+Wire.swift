import CRDT
import FoundationEssentials
import Replication

extension WireVector: VectorColumns {
    init(job: JobID, entries: [VersionVector.Entry], end: ToldEnd? = nil) throws {
        self.job = job.text
        try setColumns(entries)
        if let end {
            removal = try WireRemoval(end.removal)
            words = end.words
        }
    }

    func end() throws -> ToldEnd? { hasRemoval ? ToldEnd(try removal.removal(), knowing: words) : nil }
}

extension WireRemoval: VectorColumns {
    init(_ removal: JobRemoval) throws {
        name = removal.name
        try setColumns(removal.heads.entries)
    }

    func removal() throws -> JobRemoval {
        guard JobRemoval.isNameBounded(name) else {
            throw WireFormatError.textTooLong(.name, bytes: name.utf8.count)
        }
        return JobRemoval(name: name, heads: try vector())
    }
}

/// Entries of a vector as three columns of one length.
protocol VectorColumns {
    var replicas: Data { get set }
    var sequences: [UInt64] { get set }
    var digests: Data { get set }
}

extension VectorColumns {
    mutating func setColumns(_ entries: [VersionVector.Entry]) throws {
        try Self.check(entries)
        replicas.reserveCapacity(entries.count * ReplicaID.wireBytes)
        digests.reserveCapacity(entries.count * JournalDigest.wireBytes)
        for entry in entries {
            replicas.append(entry.replica.wire)
            digests.append(entry.head.digest.wire)
        }
        sequences = entries.map(\.head.sequence)
    }

    /// The entries, in the order in which they were sent.
    func entries() throws -> [VersionVector.Entry] {
        guard digests.count == sequences.count * JournalDigest.wireBytes,
            replicas.count == sequences.count * ReplicaID.wireBytes
        else { throw WireFormatError.unevenColumns(.entries) }
        let (names, links) = (replicas.bigEndianNumbers, digests.bigEndianNumbers)
        let entries = sequences.indices.map { index in
            let digest = JournalDigest(high: links[2 * index], low: links[2 * index + 1])
            return VersionVector.Entry(
                replica: ReplicaID(names[index]), head: JournalHead(sequence: sequences[index], digest: digest))
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

extension Data {
    /// Of 16 bytes each.
    fileprivate var bigEndianNumbers: [UInt128] {
        withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 15, by: 16).map {
                UInt128(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt128.self))
            }
        }
    }
}
