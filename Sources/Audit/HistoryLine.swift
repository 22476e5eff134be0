import Authorship
import CRDT
import FoundationEssentials
import HTTPCoding

/// A line of a job's history: JSON, so that others can check it without Muster (docs/audit.md).
enum HistoryLine: Codable {
    case job(Job)
    case author(Author)
    case run(Run)
    case end(End)

    /// The first line.
    struct Job: Codable {
        /// Of this form.
        var version = 1
        let job: String
        /// The certificate of the fleet's root, in DER; nil where the laptop belonged to none.
        let fleet: Data?
        let exportedAt: Timestamp
    }

    /// Whose a journal is, before the first run that is signed by this author.
    struct Author: Codable {
        /// The journal's name: the first half of SHA-256 over `muster replica 1`, a NUL, the key and the nonce; of a server 0.
        let journal: String
        /// Ed25519, 32 bytes.
        let key: Data
        /// 32 hexadecimal digits; nil for a server.
        let nonce: String?
        /// Its own and its issuer's, in DER; none of one that was in no fleet.
        let certificates: [Data]
    }

    /// A run of changes, after all those of its journal before it.
    struct Run: Codable {
        let journal: String
        /// The sequences of its first and last transform.
        let first: UInt64
        let last: UInt64
        /// Of the journal's chain after the last one: 64 hexadecimal digits.
        let digest: String
        /// Over `muster journal 1`, a NUL, job, journal, `last` and `digest`; of the server with its key after it.
        let signature: Data?
        /// As laptops exchange them (`ChangeCodec`).
        let changes: Data
    }

    /// The last line: without it the file is not whole.
    struct End: Codable {
        /// How many runs there are.
        let runs: Int
    }

    private enum Kind: String, Codable {
        case job, author, run, end

        /// All that such a line may say: what is misspelt must not look like what was left out.
        var keys: Set<String> {
            switch self {
            case .job: ["line", "version", "job", "fleet", "exportedAt"]
            case .author: ["line", "journal", "key", "nonce", "certificates"]
            case .run: ["line", "journal", "first", "last", "digest", "signature", "changes"]
            case .end: ["line", "runs"]
            }
        }
    }

    private static let kind = AnyKey(stringValue: "line")

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        let kind = try container.decode(Kind.self, forKey: Self.kind)
        if let key = container.allKeys.first(where: { !kind.keys.contains($0.stringValue) }) {
            throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "no line says this")
        }
        self =
            switch kind {
            case .job: .job(try Job(from: decoder))
            case .author: .author(try Author(from: decoder))
            case .run: .run(try Run(from: decoder))
            case .end: .end(try End(from: decoder))
            }
    }

    func encode(to encoder: any Encoder) throws {
        let (kind, content): (Kind, any Encodable) =
            switch self {
            case .job(let job): (.job, job)
            case .author(let author): (.author, author)
            case .run(let run): (.run, run)
            case .end(let end): (.end, end)
            }
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(kind, forKey: Self.kind)
        try content.encode(to: encoder)
    }
}
