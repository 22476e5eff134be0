import CRDT
import HTTPCoding
import Hummingbird
import Outbox
import ServerChannel
import Storage

/// One operation of the API, as `openapi.json` documents it.
struct Route: Sendable {
    var method: HTTPRequest.Method
    /// With `{job}`, `{replica}` and `{token}` for the variable segments.
    var path: String
    /// Else the route judges itself whom it answers.
    var isForMembers: Bool
    var answer: @Sendable (Exchange, ChannelService) async throws -> Answer

    init(
        _ method: HTTPRequest.Method, _ path: String, isForMembers: Bool = true,
        _ answer: @escaping @Sendable (Exchange, ChannelService) async throws -> Answer
    ) {
        self.method = method
        self.path = path
        self.isForMembers = isForMembers
        self.answer = answer
    }

    /// Whether a request's path is of this form.
    func matches(_ path: String) -> Bool { PathPattern(self.path).matches(path) }
}

extension Route {
    static let all = reading + writing + shuttingOut + assigning + renewing

    static let reading = [
        Route(.get, "/v1/time", isForMembers: false) { exchange, service in
            try .json(TimeDocument(received: exchange.context.received, answered: service.now.microseconds))
        },
        // It tells of no job. It is not packed: strangers may ask.
        Route(.get, "/v1/openapi.json", isForMembers: false) { _, _ in
            Answer(mediaType: ChannelHeader.json, bytes: PackageResources.openapi_json, mayBePacked: false)
        },
        Route(.get, "/v1/jobs") { exchange, service in
            let since = try exchange.query("since")
            guard since?.unicodeScalars.count ?? 0 <= 64 else {
                throw ChannelProblem(
                    .invalidRequest, "'since' is a cursor of an earlier answer, of at most 64 characters.")
            }
            let (wait, limit) = (try exchange.wait(), try exchange.limit())
            let list = try await service.jobs(since: since, wait: wait, limit: limit, for: exchange.access)
            return try .either(exchange, json: { JobChangesDocument(list) }, protobuf: { try list.protobuf() })
        },
        Route(.get, "/v1/jobs/{job}") { exchange, service in
            try .json(try await exchange.seeing(service) { try await service.job($0) })
        },
        Route(.get, "/v1/jobs/{job}/items") { exchange, service in
            let after = try exchange.query("after").map { text in
                guard let item = ItemID(text), item.description == text else {
                    throw ChannelProblem(.invalidRequest, "'after' is the id of an item, a UUID in lower case.")
                }
                return item
            }
            let limit = try exchange.limit()
            return try .json(
                try await exchange.seeing(service) {
                    try await service.items(of: $0, after: after ?? .job, limit: limit)
                })
        },
        Route(.get, "/v1/jobs/{job}/channel") { exchange, service in
            let after = try exchange.sequence("after")
            let (wait, limit) = (try exchange.wait(), try exchange.limit())
            let run = try await exchange.seeing(service) {
                try await service.channel(of: $0, after: after, wait: wait, limit: limit)
            }
            return try .either(exchange, json: { try ChannelDocument(run) }, protobuf: { try run.list.protobuf() })
        },
        Route(.get, "/v1/jobs/{job}/vector") { exchange, service in
            let held = try await service.holdings(of: exchange.job(), for: exchange.access)
            return try .either(exchange, json: { VectorDocument(held) }, protobuf: { try held.protobuf() })
        },
        Route(.get, "/v1/jobs/{job}/journals/{replica}") { exchange, service in
            let (job, replica) = (try exchange.job(), try exchange.replica())
            try await service.checkJournal(replica, of: job, for: exchange.access)
            let list = try await service.journal(of: replica, job: job, after: exchange.sequence("after"))
            return try .either(exchange, json: { SegmentsDocument(list) }, protobuf: { try list.protobuf() })
        },
        Route(.get, "/v1/jobs/{job}/mutations/{token}") { exchange, service in
            let token = try exchange.token()
            return try .json(
                OutcomeDocument(try await exchange.seeing(service) { try await service.outcome(of: token, job: $0) }))
        },
    ]

    static let writing = [
        Route(.post, "/v1/jobs/{job}/journals") { exchange, service in
            let job = try exchange.job()
            let list =
                switch try await exchange.body() {
                case .json(let bytes): try SegmentsDocument.read(bytes)
                case .protobuf(let bytes): try SegmentList(protobuf: bytes)
                }
            let held = try await service.upload(list.segments, to: job, by: exchange.access)
            return try .either(exchange, json: { VectorDocument(held) }, protobuf: { try held.protobuf() })
        },
        Route(.put, "/v1/jobs/{job}/removal") { exchange, service in
            let job = try exchange.job()
            let removal =
                switch try await exchange.body(upTo: ChannelLimits.removalBytes) {
                case .json(let bytes): try RemovalDocument.read(bytes)
                case .protobuf(let bytes): try JobRemoval(protobuf: bytes)
                }
            let held = try await service.remove(job, removal, by: exchange.access)
            return try .either(exchange, json: { VectorDocument(held) }, protobuf: { try held.protobuf() })
        },
        Route(.post, "/v1/mutations") { exchange, service in
            let deliveries =
                switch try await exchange.body() {
                case .json(let bytes): try MutationsDocument.read(bytes)
                case .protobuf(let bytes): try [Delivery](protobuf: bytes)
                }
            let decided = try await service.decide(deliveries, by: exchange.access)
            return try .either(
                exchange, json: { try DecisionsDocument(decided) }, protobuf: { try decided.protobuf() })
        },
        Route(.delete, "/v1/jobs/{job}/mutations/{token}") { exchange, service in
            let (token, job) = (try exchange.token(), try exchange.job())
            return try .json(OutcomeDocument(try await service.withdraw(token, job: job, by: exchange.access)))
        },
    ]
}
