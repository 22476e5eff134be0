import CRDT
import FoundationEssentials
import HTTPCoding
import ServerChannel

struct VectorDocument: Encodable {
    struct Entry: Codable {
        let replica: String
        let sequence: UInt64
        let digest: String
    }

    let entries: [Entry]
    let removal: RemovalDocument?
    /// The caller is not on the job.
    let isOwnOnly: Bool

    init(_ held: JobHoldings) {
        entries = held.vector.documents
        removal = held.removal.map(RemovalDocument.init)
        isOwnOnly = held.isOwnOnly
    }
}

/// What the removers of a job held of it.
struct RemovalDocument: Codable {
    let name: String
    let entries: [VectorDocument.Entry]

    init(_ removal: JobRemoval) {
        name = removal.name
        entries = removal.heads.documents
    }

    /// - Throws: `MalformedMessage` or `ChannelProblem`.
    static func read(_ bytes: [UInt8]) throws -> JobRemoval {
        let document = try JSONBody.decode(RemovalDocument.self, from: bytes)
        return try JobRemoval(checkedName: document.name, entries: document.entries.map { try $0.entry() })
    }
}

extension VersionVector {
    fileprivate var documents: [VectorDocument.Entry] {
        entries.map {
            VectorDocument.Entry(
                replica: $0.replica.description, sequence: $0.head.sequence, digest: $0.head.digest.description)
        }
    }
}

extension VectorDocument.Entry {
    fileprivate func entry() throws -> VersionVector.Entry {
        guard let replica = ReplicaID(replica), replica.description == self.replica else {
            throw ChannelProblem(.invalidRequest, "'replica' has 32 digits of 0–9 a–f.")
        }
        let digest = try JournalDigest(document: digest)
        guard (1...ChannelLimits.removedSequence).contains(sequence) else {
            throw ChannelProblem(.invalidRequest, "'sequence' is from 1 to \(ChannelLimits.removedSequence).")
        }
        return VersionVector.Entry(replica: replica, head: JournalHead(sequence: sequence, digest: digest))
    }
}

struct SegmentsDocument: Codable {
    struct Segment: Codable {
        let replica: String
        let first: UInt64
        let last: UInt64
        let digest: String
        /// Base64.
        let changes: String
        /// Base64; in the channel with the server's key after it.
        let signature: String?
    }

    struct Author: Codable {
        /// 64 hexadecimal digits.
        let key: String
        /// 32 hexadecimal digits; absent for a server.
        let nonce: String?
        /// Base64 of DER.
        let certificates: [String]
    }

    let segments: [Segment]
    /// Who has signed these.
    let authors: [Author]?

    init(_ list: SegmentList) {
        segments = list.segments.map { segment in
            Segment(
                replica: segment.replica.description, first: segment.first, last: segment.head.sequence,
                digest: segment.head.digest.description, changes: Data(segment.bytes).base64EncodedString(),
                signature: segment.signature.map { Data($0.bytes).base64EncodedString() })
        }
        authors = list.authors.map(Author.init)
    }

    /// - Throws: `MalformedMessage` or `ChannelProblem`.
    static func read(_ bytes: [UInt8]) throws -> SegmentList {
        let document = try JSONBody.decode(SegmentsDocument.self, from: bytes)
        let segments = try document.segments.map { try $0.segment() }
        return SegmentList(segments: segments, by: try document.authors?.map { try $0.author() } ?? [])
    }
}

extension SegmentsDocument.Segment {
    fileprivate func segment() throws -> JournalSegment {
        guard let replica = ReplicaID(replica), replica.description == self.replica else {
            throw ChannelProblem(.invalidRequest, "'replica' has 32 digits of 0–9 a–f.")
        }
        let digest = try JournalDigest(document: digest)
        guard let signature = Data(base64Encoded: signature ?? "") else {
            throw ChannelProblem(.malformed, "'signature' is not base64.")
        }
        guard let changes = Data(base64Encoded: changes) else {
            throw ChannelProblem(.malformed, "'changes' is not base64.")
        }
        return try JournalSegment(
            checkedReplica: replica, first: first, last: last, digest: digest, bytes: [UInt8](changes),
            signature: [UInt8](signature))
    }
}

extension SegmentsDocument.Author {
    fileprivate init(_ author: JournalAuthor) {
        key = author.key.hexadecimalDigits
        nonce = author.nonce.map { ReplicaID($0).description }
        certificates = author.certificates.map { Data($0).base64EncodedString() }
    }

    /// - Throws: `MalformedMessage` or `ChannelProblem`.
    func author() throws -> JournalAuthor {
        let number = nonce.flatMap { ReplicaID($0) }
        guard let key = JournalDigest(key), key.description == self.key, number?.description == nonce else {
            throw ChannelProblem(.invalidRequest, "'key' has 64 digits of 0–9 a–f, 'nonce' has 32.")
        }
        let certificates = certificates.map { Data(base64Encoded: $0) }
        guard !certificates.contains(nil) else {
            throw ChannelProblem(.malformed, "A certificate is not base64.")
        }
        return try JournalAuthor(
            checkedKey: key.bytes, nonce: number?.value,
            certificates: certificates.compactMap { $0.map { [UInt8]($0) } })
    }
}

extension JournalDigest {
    fileprivate init(document text: String) throws(ChannelProblem) {
        guard let digest = JournalDigest(text), digest.description == text else {
            throw ChannelProblem(.invalidRequest, "'digest' has 64 digits of 0–9 a–f.")
        }
        self = digest
    }
}

/// Reads a body, and says what is wrong with it.
enum JSONBody {
    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws(ChannelProblem) -> Value {
        do {
            return try JSON.decode(type, from: bytes)
        } catch let fault as JSONFault {
            throw ChannelProblem(.invalidRequest, "The body is not what this path takes: \(fault.sentence).")
        } catch {
            throw ChannelProblem(.invalidRequest, "The body is not JSON.")
        }
    }
}
