import Authorship
package import CRDT
import FoundationEssentials
import SwiftProtobuf

extension SegmentList {
    /// The message `Segments` of channel.proto.
    package func protobuf() throws -> [UInt8] { try wire.bytes() }

    /// Reads the message `Segments`; each run is checked as by `JournalSegment(checkedReplica:)`.
    package init(protobuf bytes: [UInt8]) throws {
        try self.init(WireSegments(bytes))
    }

    init(_ wire: WireSegments) throws {
        self.init(
            segments: try wire.segments.map(JournalSegment.init), by: try wire.authors.map { try $0.author() },
            head: wire.head)
    }

    /// Gives each run its author.
    package init(segments: [JournalSegment], by authors: [JournalAuthor], head: UInt64 = 0) {
        let byName = authors.byName
        self.init(
            segments: segments.map { segment in
                var segment = segment
                segment.author = segment.authorName.flatMap { byName[$0] }
                return segment
            }, head: head)
    }

    /// Who has signed these, each once, in the order of their runs.
    package var authors: [JournalAuthor] { segments.map(\.author).eachOnce }

    var wire: WireSegments {
        var wire = WireSegments()
        wire.segments = segments.map(\.wire)
        wire.head = head
        wire.authors = authors.map(WireAuthor.init)
        return wire
    }
}

extension JournalSegment {
    /// Checks a run as far as it can be without the journal before it; the bytes are not looked into.
    ///
    /// - Throws: `MalformedMessage` without bytes, or unless 1 ≤ `first` ≤ `last` ≤ `ChangeLimits.sequence`.
    package init(
        checkedReplica replica: ReplicaID, first: UInt64, last: UInt64, digest: JournalDigest, bytes: [UInt8],
        signature: [UInt8]
    ) throws {
        guard first >= 1, last >= first, last <= ChangeLimits.sequence, !bytes.isEmpty else {
            throw MalformedMessage(sentence: "A run of journal is empty, or its sequences are not in order.")
        }
        let signed = JournalSignature(signature)
        guard signed != nil || signature.isEmpty else {
            throw MalformedMessage(
                sentence:
                    "A signature has \(JournalSignature.byteCount) bytes, in the channel \(JournalSignature.channelByteCount)."
            )
        }
        self.init(
            replica: replica, first: first, head: JournalHead(sequence: last, digest: digest), bytes: bytes,
            signature: signed)
    }

    fileprivate init(_ wire: WireSegment) throws {
        try self.init(
            checkedReplica: ReplicaID(try UInt128(wire: wire.replica)), first: wire.first, last: wire.last,
            digest: JournalDigest(wire: wire.digest), bytes: [UInt8](wire.changes), signature: [UInt8](wire.signature))
    }

    fileprivate var wire: WireSegment {
        var wire = WireSegment()
        wire.replica = replica.value.wire
        wire.first = first
        wire.last = head.sequence
        wire.digest = head.digest.wire
        wire.signature = Data(signature?.bytes ?? [])
        wire.changes = Data(bytes)
        return wire
    }
}

extension JobHoldings {
    /// The message `Vector` of channel.proto.
    package func protobuf() throws -> [UInt8] {
        var wire = WireVector()
        (wire.replicas, wire.sequences, wire.digests) = vector.columns
        if let removal { wire.removal = removal.wire }
        wire.ownOnly = isOwnOnly
        return try wire.bytes()
    }

    /// Reads the message `Vector`; a removal within it is checked as by `JobRemoval(checkedName:entries:)`.
    package init(protobuf bytes: [UInt8]) throws {
        let wire = try WireVector(bytes)
        self.init(
            vector: VersionVector(
                try VersionVector.entries(
                    replicas: wire.replicas, sequences: wire.sequences, digests: wire.digests)),
            removal: wire.hasRemoval ? try JobRemoval(wire.removal) : nil)
        isOwnOnly = wire.ownOnly
    }
}

extension JobRemoval {
    /// The message `Removal` of channel.proto.
    package func protobuf() throws -> [UInt8] { try wire.bytes() }

    /// Reads the message `Removal`, checked as by `init(checkedName:entries:)`.
    package init(protobuf bytes: [UInt8]) throws { try self.init(WireRemoval(bytes)) }

    /// Checks what comes from outside.
    ///
    /// - Throws: `MalformedMessage` for a name of more than 256 Unicode scalars, for more than
    ///   `ChangeLimits.positions` journals, and for one that reaches beyond `ChannelLimits.removedSequence`.
    package init(checkedName name: String, entries: [VersionVector.Entry]) throws {
        guard Self.isNameBounded(name) else {
            throw MalformedMessage(sentence: "The name of the job is longer than \(Self.longestName) characters.")
        }
        // Before those of one journal become one.
        guard entries.count <= ChangeLimits.positions else {
            throw MalformedMessage(sentence: "The removal names more than \(ChangeLimits.positions) journals.")
        }
        guard entries.allSatisfy({ $0.head.sequence <= ChannelLimits.removedSequence }) else {
            throw MalformedMessage(sentence: "The removal names a journal that has no end.")
        }
        self.init(name: name, heads: VersionVector(entries))
    }

    fileprivate init(_ wire: WireRemoval) throws {
        try self.init(
            checkedName: wire.name,
            entries: VersionVector.entries(
                replicas: wire.replicas, sequences: wire.sequences, digests: wire.digests))
    }

    fileprivate var wire: WireRemoval {
        var wire = WireRemoval()
        wire.name = name
        (wire.replicas, wire.sequences, wire.digests) = heads.columns
        return wire
    }
}

extension VersionVector {
    fileprivate var columns: (replicas: Data, sequences: [UInt64], digests: Data) {
        var replicas = Data()
        var digests = Data()
        for entry in entries {
            replicas.append(entry.replica.value.wire)
            digests.append(entry.head.digest.wire)
        }
        return (replicas, entries.map(\.head.sequence), digests)
    }

    fileprivate static func entries(replicas: Data, sequences: [UInt64], digests: Data) throws -> [Entry] {
        guard digests.count == sequences.count * 32, replicas.count == sequences.count * 16 else {
            throw MalformedMessage(sentence: "The columns of the vector are not of one length.")
        }
        guard sequences.allSatisfy({ $0 <= ChangeLimits.sequence }) else {
            throw MalformedMessage(sentence: "A journal of the vector has no end.")
        }
        return try sequences.indices.map { index in
            let start = replicas.startIndex + index * 16
            let replica = ReplicaID(try UInt128(wire: replicas[start..<start + 16]))
            let link = digests.startIndex + index * 32
            let digest = try JournalDigest(wire: digests[link..<link + 32])
            return Entry(replica: replica, head: JournalHead(sequence: sequences[index], digest: digest))
        }
    }
}

extension [JournalAuthor] {
    /// Of two with one name the first.
    var byName: [ReplicaID: JournalAuthor] {
        Dictionary(map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

extension [JournalAuthor?] {
    /// In their order.
    var eachOnce: [JournalAuthor] {
        var named: Set<ReplicaID> = []
        return compactMap(\.self).filter { named.insert($0.name).inserted }
    }
}

extension SwiftProtobuf.Message {
    init(_ bytes: [UInt8]) throws {
        do { try self.init(serializedBytes: bytes) } catch {
            throw MalformedMessage(sentence: "The bytes are not the protobuf message that belongs here.")
        }
    }

    func bytes() throws -> [UInt8] { try serializedBytes() }
}

extension WireAuthor {
    init(_ author: JournalAuthor) {
        self.init()
        key = Data(author.key)
        nonce = author.nonce?.wire ?? Data()
        certificates = author.certificates.map { Data($0) }
    }

    func author() throws -> JournalAuthor {
        try JournalAuthor(
            checkedKey: [UInt8](key), nonce: nonce.isEmpty ? nil : UInt128(wire: nonce),
            certificates: certificates.map { [UInt8]($0) })
    }
}

extension JournalAuthor {
    /// - Throws: `MalformedMessage` unless the key has 32 bytes, and for certificates that are too many or too long.
    package init(checkedKey key: [UInt8], nonce: UInt128?, certificates: [[UInt8]]) throws {
        guard let author = JournalAuthor(key: key, nonce: nonce, certificates: certificates) else {
            throw MalformedMessage(sentence: "The author of a journal has no key of 32 bytes, or odd certificates.")
        }
        self = author
    }
}

extension JournalDigest {
    /// 32 bytes, big-endian.
    fileprivate var wire: Data { Data(bytes) }

    fileprivate init(wire: Data) throws {
        guard let digest = wire.withUnsafeBytes({ JournalDigest($0) }) else {
            throw MalformedMessage(sentence: "A digest does not have 32 bytes.")
        }
        self = digest
    }
}

extension UInt128 {
    /// 16 bytes, big-endian.
    var wire: Data { Swift.withUnsafeBytes(of: bigEndian) { Data($0) } }

    init(wire: Data) throws {
        guard wire.count == 16 else { throw MalformedMessage(sentence: "An id does not have 16 bytes.") }
        self.init(bigEndian: wire.withUnsafeBytes { $0.loadUnaligned(as: UInt128.self) })
    }
}
