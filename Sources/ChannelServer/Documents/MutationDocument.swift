import CRDT
import FoundationEssentials
import HTTPCoding
import Outbox
import ServerChannel

/// Requests as people write them.
struct MutationsDocument: Decodable {
    let mutations: [MutationDocument]

    static func read(_ bytes: [UInt8]) throws -> [Delivery] {
        try JSONBody.decode(MutationsDocument.self, from: bytes).mutations.map { try $0.delivery() }
    }
}

struct MutationDocument: Decodable {
    let job: String
    let token: String
    let channel: UInt64?
    let lane: String
    let after: String?
    let priority: UInt8
    let kind: String
    let payload: JSONValue

    enum CodingKeys: CodingKey {
        case job, token, channel, lane, after, priority, kind, payload
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        job = try container.decode(String.self, forKey: .job)
        token = try container.decode(String.self, forKey: .token)
        lane = try container.decode(String.self, forKey: .lane)
        after = try container.decodeIfPresent(String.self, forKey: .after)
        // What is there may not be null: only `after` may.
        channel = container.contains(.channel) ? try container.decode(UInt64.self, forKey: .channel) : nil
        priority = container.contains(.priority) ? try container.decode(UInt8.self, forKey: .priority) : 0
        kind = try container.decode(String.self, forKey: .kind)
        payload = container.contains(.payload) ? try container.decode(JSONValue.self, forKey: .payload) : .object([:])
    }

    fileprivate func delivery() throws -> Delivery {
        guard case .object = payload else { throw ChannelProblem(.invalidRequest, "'payload' is an object.") }
        guard let job = JobID(job) else {
            throw ChannelProblem(.invalidRequest, "'job' has 1 to 64 of A–Z a–z 0–9 . _ -, and no dot first.")
        }
        guard channel ?? 0 <= ChangeLimits.sequence else {
            throw ChannelProblem(.invalidRequest, "'channel' is a whole number from 0 to \(ChangeLimits.sequence).")
        }
        let request = MutationRequest(
            token: try Self.token(token, what: "token"), lane: lane,
            after: try after.map { try Self.token($0, what: "after") }, priority: priority, kind: kind,
            payload: try JSON.encode(payload))
        // A schema cannot say so.
        guard request.after != request.token else {
            throw ChannelProblem(.malformed, "A mutation cannot follow itself; name another one in 'after'.")
        }
        guard request.isWellFormed else {
            throw ChannelProblem(
                .invalidRequest,
                "Lane and kind have 1 to 64 of A–Z a–z 0–9 . _ -, the payload at most 64 KiB."
            )
        }
        return Delivery(request: request, job: job, knownChannel: channel)
    }

    private static func token(_ text: String, what: String) throws(ChannelProblem) -> MutationToken {
        guard let token = MutationToken(text), token.description == text else {
            throw ChannelProblem(.invalidRequest, "'\(what)' has 32 digits of 0–9 a–f.")
        }
        return token
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
