import CRDT
import FoundationEssentials
import HTTPCoding
import ServerChannel

/// A request as people write it; its token is the Idempotency-Key.
struct MutationDocument: Decodable {
    let lane: String
    let after: String?
    let priority: UInt8
    let kind: String
    let payload: JSONValue

    enum CodingKeys: CodingKey {
        case lane, after, priority, kind, payload
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        lane = try container.decode(String.self, forKey: .lane)
        after = try container.decodeIfPresent(String.self, forKey: .after)
        // What is there may not be null: only `after` may.
        priority = container.contains(.priority) ? try container.decode(UInt8.self, forKey: .priority) : 0
        kind = try container.decode(String.self, forKey: .kind)
        payload = container.contains(.payload) ? try container.decode(JSONValue.self, forKey: .payload) : .object([:])
    }

    static func read(_ bytes: [UInt8], token: MutationToken) throws -> MutationRequest {
        let document = try JSONBody.decode(MutationDocument.self, from: bytes)
        guard case .object = document.payload else {
            throw ChannelProblem(.invalidRequest, "'payload' is an object.")
        }
        var after: MutationToken?
        if let text = document.after {
            guard let named = MutationToken(text), named.description == text else {
                throw ChannelProblem(.invalidRequest, "'after' has 32 digits of 0–9 a–f.")
            }
            after = named
        }
        if after == token {
            // As of any other that has not been decided.
            throw ChannelProblem(.predecessorMissing, "The request follows itself; leave 'after' out.")
        }
        let request = MutationRequest(
            token: token, lane: document.lane, after: after, priority: document.priority, kind: document.kind,
            payload: try JSON.encode(document.payload))
        guard request.isWellFormed else {
            throw ChannelProblem(
                .invalidRequest,
                "Lane and kind have 1 to 64 of A–Z a–z 0–9 . _ -, the payload at most 64 KiB."
            )
        }
        return request
    }
}

/// Any JSON, kept as it is but for the order of keys and spaces.
enum JSONValue: Codable, Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
