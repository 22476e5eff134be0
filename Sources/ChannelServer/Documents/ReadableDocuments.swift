import CRDT
import HTTPCoding
import Inventory
import ServerChannel
import Storage

// The answers as JSON, for people; the names are those of `openapi.json`.

struct TimeDocument: Encodable {
    let received: Int64
    let answered: Int64
}

struct JobChangesDocument: Encodable {
    struct Entry: Encodable {
        let job: String
        let channel: UInt64
        let fingerprint: String
        let assignments: String
        let isOwnOnly: Bool
    }

    let jobs: [Entry]
    let cursor: String
    let isFromStart: Bool

    init(_ list: JobChangeList) {
        jobs = list.entries.map {
            Entry(
                job: $0.job.text, channel: $0.channel, fingerprint: $0.fingerprint.sixteenDigits,
                assignments: $0.assignments.sixteenDigits, isOwnOnly: $0.isOwnOnly)
        }
        cursor = list.cursor
        isFromStart = list.isFromStart
    }
}

struct JobDocument: Encodable {
    let id: String
    let name: String
    let kind: String
    @Nullable var state: String?
    let published: [String: String]
    let items: Int
    let removed: Int
    let conflicts: Int
    let isRemoved: Bool
    let digest: String
    let cubicFeet: Double
    let vector: VectorDocument
    let pending: [PendingDocument]
}

struct PendingDocument: Encodable {
    let token: String
    let lane: String
    let priority: UInt8
    let kind: String
    let by: String
    @Nullable var byName: String?
    @Nullable var person: String?
    let at: Timestamp
}

struct ItemDocument: Encodable {
    let id: String
    let fields: [String: String]
    let notes: [String]
    let updatedAt: Timestamp
    let updatedBy: String
    @Nullable var updatedByName: String?
    @Nullable var person: String?

    /// - Parameter job: read after the item, with who was at which laptop.
    init(_ item: StoredItem, of job: (stored: StoredJob, sessions: WorkSessions)) {
        id = item.id.description
        fields = Dictionary(
            item.state.fields.compactMap { field in field.register.winner.map { (field.name.text, $0.value) } },
            uniquingKeysWith: { first, _ in first })
        notes = item.state.remarks.map(\.text)
        let write = item.state.lastWrite
        updatedAt = Timestamp(write?.stamp ?? .zero)
        updatedBy = (write?.author ?? .channel).description
        updatedByName = write.flatMap { job.stored.properties.value(of: JobProperty.author($0.author)) }
        person = write.flatMap { job.sessions.person(of: $0) }
    }
}

struct OutcomeDocument: Encodable {
    let token: String
    let verdict: String
    let reason: String

    init(_ outcome: Outcome) {
        token = outcome.token.description
        verdict = "\(outcome.verdict)"
        reason = outcome.reason
    }
}

/// The channel in words: what its journal says in protobuf.
struct ChannelDocument: Encodable {
    struct Entry: Encodable {
        let id: UInt64
        let last: UInt64
        let at: Timestamp
        var outcomes: [OutcomeDocument] = []
        var published: [String: String] = [:]
        var accepted: [String: UInt64] = [:]
    }

    let entries: [Entry]
    let head: UInt64

    init(_ extract: ChannelExtract) throws {
        head = extract.run.head
        guard let segment = extract.run.segment else {
            entries = []
            return
        }
        var next = segment.first
        entries = try ChangeCodec.decodeAll(segment.bytes).map { change in
            let last = next + UInt64(change.operations.count) - 1
            defer { next = last + 1 }
            var entry = Entry(id: next, last: last, at: Timestamp(change.stamp))
            for operation in change.operations {
                switch operation {
                case .outcome(let outcome): entry.outcomes.append(OutcomeDocument(outcome))
                case .publish(let published): entry.published[published.name.text] = published.value
                case .acknowledge(let positions):
                    for position in positions { entry.accepted[position.replica.description] = position.sequence }
                default: break
                }
            }
            return entry
        }
    }
}

struct DecisionsDocument: Encodable {
    struct News: Encodable {
        let job: String
        let news: ChannelDocument
    }

    let decisions: [OutcomeDocument]
    let channels: [News]

    init(_ decided: Decided) throws {
        decisions = decided.outcomes.map { OutcomeDocument($0) }
        channels = try decided.channels.map { News(job: $0.job.text, news: try ChannelDocument($0.extract)) }
    }
}

extension Timestamp {
    init(_ stamp: Stamp) {
        self.init(milliseconds: Int64(clamping: stamp.milliseconds))
    }
}

extension UInt64 {
    /// As digests are written.
    var sixteenDigits: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
