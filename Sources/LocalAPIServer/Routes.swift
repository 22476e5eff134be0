import HTTPCoding
import HTTPTypes
import Hummingbird
import LocalAPI

/// One operation of the local API, as `openapi.json` documents it.
struct Route: Sendable {
    var method: HTTPRequest.Method
    /// With `{job}` and `{item}` for the variable segments.
    var path: String
    /// The parameters that its query may have.
    var query: [String]
    /// Whether it may look at a whole job, or at thousands of items: it is then answered beside the event loop's thread, on which
    /// everybody else's requests and the mesh wait for each other.
    var isLong: Bool
    /// Whether it writes what goes to others.
    var changesJobs: Bool { method != .get && path.hasPrefix("/v1/jobs") }
    /// Whether who may only look gets an answer: it changes nothing, and tells nothing by which others can.
    var isForReaders: Bool
    /// Whether it looks, in the transaction that writes, for what `If-Match` names.
    var takesCondition: Bool
    /// Whether it reads the request's body.
    var takesBody: Bool
    /// Whether it may be sent again under a key, so that its body's hash and its answer are kept: not where a code stands in one of them
    /// by which somebody is let in, and not a whole file, which changes nothing the second time.
    var takesKey: Bool {
        method != .get && !path.hasPrefix("/v1/fleet/invitations") && !path.hasPrefix("/v1/fleet/join")
            && !path.hasPrefix("/v1/carry") && path != "/v1/restore"
    }
    /// See `KeyedRequest`.
    var isResumable = false
    /// See `KeyedRequest`.
    var recover: @Sendable (WrittenParts) throws -> APIAnswer? = { _ in nil }
    var answer: @Sendable (Request, LocalContext, any MusterService) async throws -> Response

    init(
        _ method: HTTPRequest.Method, _ path: String, query: [String] = [], isLong: Bool = false,
        isSecret: Bool = false, takesCondition: Bool = false, takesBody: Bool? = nil,
        _ answer: @escaping @Sendable (Request, LocalContext, any MusterService) async throws -> Response
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.isLong = isLong
        self.takesCondition = takesCondition
        self.takesBody = takesBody ?? [.post, .put, .patch].contains(method)
        isForReaders = method == .get && !isSecret
        self.answer = answer
    }

    /// The same route, whose answer can be told from what was written: `value` says what it is, with which status.
    func recovered<Value: Encodable & Sendable>(
        _ status: Int = 200, _ value: @escaping @Sendable (WrittenParts) -> Value?
    ) -> Route {
        var route = self
        route.recover = { written in
            try value(written).map { APIAnswer(status: status, tag: nil, body: try JSON.encode($0)) }
        }
        return route
    }

    /// The same route, which can be carried out again where it was ended in its midst.
    var resumed: Route {
        var route = self
        route.isResumable = true
        return route
    }
}

extension Route {
    /// The one that a query may have more than once.
    static let repeatedParameter = "where"

    static let all =
        device + diagnostics + metrics + peers + carry + sessions + fleet + jobs + queue + roster + items + backups

    static let device = [
        Route(.get, "/v1/status") { _, _, service in try Answer.json(try await service.status()) },
        Route(.get, "/v1/catalogue", query: Page.query) { request, _, _ in
            try Page(of: request).answer(CategoryView.all, request)
        },
        Route(.get, "/v1/clock") { _, _, service in try Answer.json(try await service.clockReport()) },
        Route(.get, "/v1/openapi.json") { _, _, _ in Answer.document(PackageResources.openapi_json) },
        Route(.get, "/v1/doctor") { _, _, service in try Answer.json(try await service.doctor()) },
        Route(.get, "/v1/events", query: ["job", "type"]) { request, context, service in
            let type = try request.query("type").map { text in
                guard let type = EventType(rawValue: text) else {
                    throw APIError(
                        .invalidRequest, "'\(text)' is no type of event; use change, job, queue, pause, peer or reset.")
                }
                return type
            }
            let last = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }
            let events = try await service.events(job: request.query("job"), type: type, after: last)
            return EventStream.answer(events, for: request, heartbeat: context.heartbeat)
        },
    ]

    static let jobs = [
        Route(.get, "/v1/jobs", query: ["name"] + Page.query) { request, _, service in
            try Page(of: request).answer(try await service.jobs(named: request.query("name")), request)
        },
        Route(.post, "/v1/jobs") { request, _, service in
            try Answer.json(
                try await service.createJob(try await request.decode(CreateJobRequest.self)), status: .created)
        }.recovered(201) { Identified(id: $0.job) },
        Route(.get, "/v1/jobs/{job}", query: ["digest"]) { request, context, service in
            let digest = request.query("digest")
            guard digest == nil || digest == "known" else {
                throw APIError(.invalidRequest, "'digest' is 'known', or left out.")
            }
            return try Answer.json(try await service.job(context.parameter("job"), makesDigest: digest == nil))
        },
        Route(.patch, "/v1/jobs/{job}", takesCondition: true) { request, context, service in
            let renaming = try await request.decode(RenameJobRequest.self)
            return try Answer.json(try await service.renameJob(renaming, job: context.parameter("job")))
        }.recovered { Identified(id: $0.job) },
        Route(.delete, "/v1/jobs/{job}", query: ["confirmed"], takesCondition: true) { request, context, service in
            let isConfirmed = try request.flag("confirmed")
            return try Answer.json(try await service.removeJob(context.parameter("job"), isConfirmed: isConfirmed))
        }.recovered { Identified(id: $0.job) },
        Route(.get, "/v1/jobs/{job}/summary", isLong: true) { _, context, service in
            try Answer.json(try await service.summary(job: context.parameter("job")))
        },
        Route(.get, "/v1/jobs/{job}/conflicts", isLong: true) { _, context, service in
            try Answer.json(try await service.conflicts(job: context.parameter("job")))
        },
        Route(.post, "/v1/jobs/{job}/conflicts") { request, context, service in
            let settling = try await request.decode(SettleRequest.self)
            return try Answer.json(try await service.settle(settling, job: context.parameter("job")))
        },
        Route(.get, "/v1/jobs/{job}/check") { _, context, service in
            try Answer.json(try await service.check(job: context.parameter("job")))
        },
        Route(.get, "/v1/jobs/{job}/log", query: ["item"] + Page.query, isLong: true) { request, context, service in
            let item = request.query("item")
            let page = try Page(of: request)
            return try await page.answer(try await service.log(job: context.parameter("job"), item: item), request)
        },
        Route(.get, "/v1/jobs/{job}/export", query: ["format"], isLong: true) { request, context, service in
            let name = request.query("format") ?? ExportFormat.json.rawValue
            guard let format = ExportFormat(rawValue: name) else {
                throw APIError(.invalidRequest, "\"\(name)\" is no export format: ask for json or csv.")
            }
            let chunks = try await service.export(job: context.parameter("job"), format: format)
            return Answer.chunks(chunks, mediaType: format.mediaType)
        },
        Route(.get, "/v1/jobs/{job}/history", isLong: true) { _, context, service in
            let chunks = try await service.history(job: context.parameter("job"))
            return Answer.chunks(chunks, mediaType: "application/x-ndjson")
        },
    ]

    static let queue = [
        Route(.post, "/v1/jobs/{job}/state", takesCondition: true) { request, context, service in
            let advance = try await request.decode(AdvanceRequest.self)
            return try Answer.json(
                try await service.advance(advance, job: context.parameter("job")), status: .accepted)
        }.recovered(202) { QueuedTokens(tokens: $0.tokens) },
        Route(.post, "/v1/jobs/{job}/signature", takesCondition: true) { request, context, service in
            let signOff = try await request.decode(SignOffRequest.self)
            return try Answer.json(
                try await service.signOff(signOff, job: context.parameter("job")), status: .accepted)
        }.recovered(202) { written -> QueuedSignature? in
            written.signedDigest.map { QueuedSignature(tokens: written.tokens, digest: $0) }
        },
        Route(.get, "/v1/jobs/{job}/amendments", isLong: true) { _, context, service in
            try Answer.json(try await service.amendments(job: context.parameter("job")))
        },
        Route(.get, "/v1/queue", query: Page.query) { request, _, service in
            try Page(of: request).answer(try await service.queue(), request)
        },
        Route(.get, "/v1/queue/log", query: Page.query, isLong: true) { request, _, service in
            let text = request.query("limit") ?? "1000"
            guard let limit = Int(text), (1...10_000).contains(limit) else {
                throw APIError(.invalidRequest, "'\(text)' is no limit: give a number from 1 to 10000.")
            }
            let after = try Page(of: request, isLimitElsewhere: true).after
            // Without a cursor the last ones; with one those that follow it.
            let attempts = try await service.attempts(limit: after == nil ? limit : 10_000)
            return try Page(limit: limit, after: after).answer(attempts, request)
        },
        Route(.post, "/v1/queue/pause") { request, _, service in
            try Answer.json(try await service.pause(try await request.decode(LaneRequest.self)))
        },
        Route(.post, "/v1/queue/resume") { request, _, service in
            try Answer.json(try await service.resume(try await request.decode(LaneRequest.self)))
        },
        Route(.get, "/v1/queue/{token}") { _, context, service in
            try Answer.json(try await service.queued(context.parameter("token")))
        },
        Route(.delete, "/v1/queue/{token}") { _, context, service in
            try Answer.json(try await service.drop(context.parameter("token")))
        },
        Route(.post, "/v1/queue/{token}/retry", takesBody: false) { _, context, service in
            try Answer.json(try await service.retry(context.parameter("token")))
        },
    ]

    static let roster = [
        Route(.get, "/v1/jobs/{job}/roster", query: Page.query) { request, context, service in
            try Page(of: request).answer(try await service.roster(job: context.parameter("job")), request)
        },
        Route(.get, "/v1/jobs/{job}/assignments") { _, context, service in
            try Answer.json(try await service.assignment(job: context.parameter("job")))
        },
        Route(.post, "/v1/jobs/{job}/assignments") { request, context, service in
            let words = try await request.decode(AssignmentRequest.self)
            return try Answer.json(try await service.assign(words, job: context.parameter("job")))
        },
        Route(.get, "/v1/jobs/{job}/late", query: Page.query, isLong: true) { request, context, service in
            try Page(of: request).answer(try await service.late(job: context.parameter("job")), request)
        },
        Route(.post, "/v1/jobs/{job}/late/accept", isLong: true) { request, context, service in
            let decision = try await request.decode(LateDecision.self)
            return try Answer.json(try await service.acceptLate(decision, job: context.parameter("job")))
        },
        Route(.post, "/v1/jobs/{job}/late/drop", isLong: true) { request, context, service in
            let decision = try await request.decode(LateDecision.self)
            return try Answer.json(try await service.dropLate(decision, job: context.parameter("job")))
        },
    ]

    private static let item: @Sendable (WrittenParts) -> Identified? = { written in
        written.items.last.map { Identified(id: $0, amends: written.amends) }
    }

    static let items = [
        Route(.post, "/v1/jobs/{job}/import", query: ["force"], isLong: true) { request, context, service in
            let batch = try await request.decode(ItemBatch.self)
            guard batch.items.count <= ItemBatch.largest else {
                throw APIError(.tooLarge, "A batch takes \(ItemBatch.largest) items at most: send it in smaller ones.")
            }
            let report = try await service.addItems(batch, job: context.parameter("job"))
            return try Answer.json(CallerWords(of: request).told(report))
        }.resumed,
        Route(.post, "/v1/jobs/{job}/removals", query: ["preview"], isLong: true, takesCondition: true) {
            request, context, service in
            let removal = try await request.decode(RemovalRequest.self)
            if try request.flag("preview") {
                return try Answer.json(try await service.previewRemoval(removal, job: context.parameter("job")))
            }
            return try Answer.json(try await service.removeItems(removal, job: context.parameter("job")))
        }.recovered { Removed(removed: $0.items, items: $0.removed, amends: $0.amends) },
        Route(.get, "/v1/jobs/{job}/items", query: [repeatedParameter] + Page.query, isLong: true) {
            request, context, service in
            let filters = try request.queries("where").map(FieldFilter.init(parsing:))
            let page = try Page(of: request)
            guard page.isWhole else {
                let (items, hasMore) = try await service.items(
                    job: context.parameter("job"), matching: filters, after: try page.cursor(in: ItemView.self),
                    limit: page.limit ?? .max)
                return page.part(items, hasMore: hasMore, request)
            }
            let form = ElementForm(for: request)
            let items = try await service.items(job: context.parameter("job"), matching: filters, as: form)
            return Answer.chunks(items, mediaType: form.mediaType)
        },
        Route(.post, "/v1/jobs/{job}/items", query: ["force"]) { request, context, service in
            let fields = try await request.decode(FieldsRequest.self)
            return try Answer.json(try await service.addItem(fields, job: context.parameter("job")), status: .created)
        }.recovered(201, item),
        Route(.get, "/v1/jobs/{job}/items/{item}") { _, context, service in
            try Answer.json(try await service.item(context.parameter("item"), job: context.parameter("job")))
        },
        Route(.patch, "/v1/jobs/{job}/items/{item}", query: ["force"], takesCondition: true) {
            request, context, service in
            let fields = try await request.decode(FieldsRequest.self)
            let (job, item) = (try context.parameter("job"), try context.parameter("item"))
            return try Answer.json(try await service.setFields(fields, item: item, job: job))
        }.recovered(200, item),
        Route(.delete, "/v1/jobs/{job}/items/{item}", takesCondition: true) { _, context, service in
            try Answer.json(try await service.removeItem(context.parameter("item"), job: context.parameter("job")))
        }.recovered(200, item),
        Route(.post, "/v1/jobs/{job}/items/{item}/notes", takesCondition: true) { request, context, service in
            let note = try await request.decode(NoteRequest.self)
            let (job, item) = (try context.parameter("job"), try context.parameter("item"))
            return try Answer.json(try await service.addNote(note, item: item, job: job), status: .created)
        }.recovered(201, item),
        Route(.post, "/v1/jobs/{job}/items/{item}/restore", takesCondition: true, takesBody: false) {
            _, context, service in
            let (job, item) = (try context.parameter("job"), try context.parameter("item"))
            let restored = try await service.restoreItem(item, job: job)
            return try Answer.json(restored, status: restored.isNew ? .created : .ok)
        }.recovered(201) { written -> Restored? in
            guard let item = written.items.last, let replaces = written.replaces else { return nil }
            return Restored(id: item, replaces: replaces, isNew: true, amends: written.amends)
        },
    ]
}

extension ExportFormat {
    var mediaType: String {
        switch self {
        case .json: "application/json"
        case .csv: "text/csv; charset=utf-8"
        }
    }
}
