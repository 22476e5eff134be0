import CRDT
import FoundationEssentials
import HTTPCoding
import Outbox
import ServerChannel

/// Requests as people write them.
struct MutationsDocument: Decodable {
    let mutations: [MutationDocument]
    /// Who has signed these.
    let authors: [SegmentsDocument.Author]?

    static func read(_ bytes: [UInt8]) throws -> [Delivery] {
        let document = try JSONBody.decode(MutationsDocument.self, from: bytes)
        let deliveries = try document.mutations.map { try $0.delivery() }
        return [Delivery](deliveries, by: try document.authors?.map { try $0.author() } ?? [])
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
    /// JSON, as it was signed.
    let payload: String
    let key: String
    let nonce: String
    /// Base64.
    let signature: String

    enum CodingKeys: CodingKey {
        case job, token, channel, lane, after, priority, kind, payload, key, nonce, signature
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
        payload = try container.decode(String.self, forKey: .payload)
        key = try container.decode(String.self, forKey: .key)
        nonce = try container.decode(String.self, forKey: .nonce)
        signature = try container.decode(String.self, forKey: .signature)
    }

    fileprivate func delivery() throws -> Delivery {
        guard let job = JobID(job) else {
            throw ChannelProblem(.invalidRequest, "'job' has 1 to 64 of A–Z a–z 0–9 . _ -, and no dot first.")
        }
        guard channel ?? 0 <= ChangeLimits.sequence else {
            throw ChannelProblem(.invalidRequest, "'channel' is a whole number from 0 to \(ChangeLimits.sequence).")
        }
        let request = MutationRequest(
            token: try Self.token(token, what: "token"), lane: lane,
            after: try after.map { try Self.token($0, what: "after") }, priority: priority, kind: kind,
            payload: Array(payload.utf8), signature: try signed())
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

    private func signed() throws -> RequestSignature {
        guard let digits = JournalDigest(key), digits.description == key, let number = ReplicaID(nonce),
            number.description == nonce
        else { throw ChannelProblem(.invalidRequest, "'key' has 64 digits of 0–9 a–f, 'nonce' has 32.") }
        guard let value = Data(base64Encoded: signature) else {
            throw ChannelProblem(.malformed, "'signature' is not base64.")
        }
        return try RequestSignature(checkedKey: digits.bytes, nonce: number.value, signature: [UInt8](value))
    }

    private static func token(_ text: String, what: String) throws(ChannelProblem) -> MutationToken {
        guard let token = MutationToken(text), token.description == text else {
            throw ChannelProblem(.invalidRequest, "'\(what)' has 32 digits of 0–9 a–f.")
        }
        return token
    }
}
