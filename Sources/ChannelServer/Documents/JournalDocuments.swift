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

    init(_ held: JobHoldings) {
        entries = held.vector.documents
        removal = held.removal.map(RemovalDocument.init)
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
                replica: $0.replica.description, sequence: $0.head.sequence, digest: $0.head.digest.sixteenDigits)
        }
    }
}

extension VectorDocument.Entry {
    fileprivate func entry() throws -> VersionVector.Entry {
        guard let replica = ReplicaID(replica), replica.description == self.replica else {
            throw ChannelProblem(.invalidRequest, "'replica' has 32 digits of 0–9 a–f.")
        }
        guard let digest = UInt64(digest, radix: 16), digest.sixteenDigits == self.digest else {
            throw ChannelProblem(.invalidRequest, "'digest' has 16 digits of 0–9 a–f.")
        }
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
    }

    let segments: [Segment]

    init(_ list: SegmentList) {
        segments = list.segments.map { segment in
            Segment(
                replica: segment.replica.description, first: segment.first, last: segment.head.sequence,
                digest: segment.head.digest.sixteenDigits, changes: Data(segment.bytes).base64EncodedString())
        }
    }

    /// - Throws: `MalformedMessage` or `ChannelProblem`.
    static func read(_ bytes: [UInt8]) throws -> SegmentList {
        let document = try JSONBody.decode(SegmentsDocument.self, from: bytes)
        return SegmentList(segments: try document.segments.map { try $0.segment() })
    }
}

extension SegmentsDocument.Segment {
    fileprivate func segment() throws -> JournalSegment {
        guard let replica = ReplicaID(replica), replica.description == self.replica else {
            throw ChannelProblem(.invalidRequest, "'replica' has 32 digits of 0–9 a–f.")
        }
        guard let digest = UInt64(digest, radix: 16), digest.sixteenDigits == self.digest else {
            throw ChannelProblem(.invalidRequest, "'digest' has 16 digits of 0–9 a–f.")
        }
        guard let changes = Data(base64Encoded: changes) else {
            throw ChannelProblem(.malformed, "'changes' is not base64.")
        }
        return try JournalSegment(
            checkedReplica: replica, first: first, last: last, digest: digest, bytes: [UInt8](changes))
    }
}

/// Reads a body, and says what is wrong with it.
enum JSONBody {
    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws(ChannelProblem) -> Value {
        do {
            return try JSON.decode(type, from: bytes)
        } catch let error as DecodingError {
            throw ChannelProblem(.invalidRequest, "The body is not what this path takes: \(error.summary).")
        } catch {
            throw ChannelProblem(.invalidRequest, "The body is not JSON.")
        }
    }
}
