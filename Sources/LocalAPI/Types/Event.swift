/// An event of `GET /v1/events`. In JSON the payload's keys and `type`.
package indirect enum Event: Hashable, Sendable {
    /// One change, for people. A daemon that takes in thousands at once may leave some out: `job` always follows.
    case change(ChangeReport)
    /// A job has new transforms, durably: coalesced, at least one after each commit.
    case job(JobAdvanced)
    /// A request to the server stands otherwise than before, or is finished.
    case queue(QueueEntry)
    /// A person has paused requests to the server, or ended a pause; whether any waits or not.
    case pause(QueueStatus)
    /// Another device has come or gone.
    case peer(PeerStatus)
    /// Events before this one are not known any more: whoever follows something reads it anew, and goes on from here.
    case reset

    /// The `event:` line and the `type` key.
    package var type: EventType {
        switch self {
        case .change: .change
        case .job: .job
        case .queue: .queue
        case .pause: .pause
        case .peer: .peer
        case .reset: .reset
        }
    }

    /// The id of the job that it is about; nil where it is about none.
    package var job: String? {
        switch self {
        case .change(let change): change.job
        case .job(let advanced): advanced.job
        case .queue(let entry): entry.job
        case .pause, .peer, .reset: nil
        }
    }
}

/// What an event is about.
package enum EventType: String, Codable, Hashable, Sendable, CaseIterable {
    case change
    case job
    case queue
    case pause
    case peer
    case reset
}

/// What the event `job` tells: how far this device holds the job now.
package struct JobAdvanced: Codable, Hashable, Sendable {
    /// The full id.
    package var job: String
    /// Per replica id, the highest sequence up to which the whole journal is here.
    package var vector: [String: UInt64]
    /// Whether it was removed as a whole.
    package var isRemoved: Bool

    /// `vector` is keyed by replica ids of 32 hexadecimal digits.
    package init(job: String, vector: [String: UInt64], isRemoved: Bool = false) {
        self.job = job
        self.vector = vector
        self.isRemoved = isRemoved
    }
}

extension Event: Codable {
    private enum CodingKeys: String, CodingKey {
        case type
    }

    /// Reads `type`, then that payload's keys beside it; throws `DecodingError` for an unknown type.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decode(String.self, forKey: .type) {
        case "change": self = .change(try ChangeReport(from: decoder))
        case "job": self = .job(try JobAdvanced(from: decoder))
        case "queue": self = .queue(try QueueEntry(from: decoder))
        case "pause": self = .pause(try QueueStatus(from: decoder))
        case "peer": self = .peer(try PeerStatus(from: decoder))
        case "reset": self = .reset
        case let other:
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: container, debugDescription: "\(other) is not a type of event.")
        }
    }

    /// Writes `type` and the payload's keys into one object.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
        switch self {
        case .change(let change): try change.encode(to: encoder)
        case .job(let advanced): try advanced.encode(to: encoder)
        case .queue(let entry): try entry.encode(to: encoder)
        case .pause(let status): try status.encode(to: encoder)
        case .peer(let peer): try peer.encode(to: encoder)
        case .reset: break
        }
    }
}
