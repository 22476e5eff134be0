import HTTPCoding
import HTTPTypes
import Hummingbird
import LocalAPI
import Logging
import NIOHTTP1

/// Finds the route of a request and turns whatever it throws into a problem document.
struct LocalResponder: Sendable {
    private let routes: RouterResponder<LocalContext>
    private let version: String
    private let logger: Logger

    init(service: any MusterService, access: LocalSocket.Access, version: String, logger: Logger) {
        let router = Router(context: LocalContext.self)
        for route in Route.all {
            let answer: @Sendable (Request, LocalContext) async throws -> Response = { request, context in
                guard access == .all || route.isForReaders else { throw Self.onlyLooks }
                try QueryCheck.check(request, taking: route.query)
                if route.changesJobs { try service.checkThatItWrites() }
                var caller = context.caller
                caller.condition = try Self.condition(of: request, for: route)
                caller.isForcing = try request.flag("force")
                let service = service.serving(caller)
                let read = route.takesBody ? request : try await request.withoutBody()
                guard let (keyed, request) = try await KeyedRequest.read(read, of: route) else {
                    return try await Self.answer(read, context, service, route)
                }
                return try await service.once(keyed) { service in
                    try await APIAnswer(Self.answer(request, context, service, route))
                }.response
            }
            for method in Methods.answering(as: route.method) {
                router.on(RouterPath(route.path), method: method, use: answer)
            }
        }
        routes = router.buildResponder()
        self.version = version
        self.logger = logger
    }

    func respond(to request: Request, context: LocalContext) async -> Response {
        let words = CallerWords(of: request)
        var response: Response
        do {
            try BrowserGuard.check(request)
            response = try await routes.respond(to: request, context: context)
            // The router answers what it does not know with a body of its own.
            if response.status == .notFound, response.headers[.contentType] != Problem.mediaType {
                response = try unknown(request)
            }
        } catch let error as APIError {
            response = Answer.problem(error, in: words)
        } catch let fault as HTTPParserError {
            // Of a body, in whose midst it is.
            response = Answer.problem(APIError(unreadable: fault), in: words)
            response.headers[.connection] = "close"
        } catch {
            response = Answer.problem(APIError(.failed, "The daemon failed at this request: see its log."), in: words)
            logger.error(
                "request failed",
                metadata: [
                    "method": "\(request.method)", "path": "\(request.uri.path)", "error": "\(error)",
                ])
        }
        if request.method == .head { response = Methods.withoutBody(response) }
        if let name = HTTPField.Name(MusterVersion.headerName) { response.headers[name] = version }
        logger.debug(
            "request answered",
            metadata: [
                "method": "\(request.method)", "path": "\(request.uri.path)", "status": "\(response.status.code)",
            ])
        return response
    }

    private static func answer(
        _ request: Request, _ context: LocalContext, _ service: any MusterService, _ route: Route
    ) async throws -> Response {
        var response: Response
        if route.isLong {
            response = try await withTaskExecutorPreference(globalConcurrentExecutor) {
                try await route.answer(request, context, service)
            }
        } else {
            response = try await route.answer(request, context, service)
        }
        if route.method == .get { response = try ReadCondition.apply(to: response, of: request) }
        return response
    }

    /// - Throws: `invalidRequest` where a condition would be passed over.
    private static func condition(of request: Request, for route: Route) throws(APIError) -> EntityTagCondition? {
        // Of reading, see `ReadCondition`.
        guard route.method != .get else { return nil }
        guard request.headers[.ifNoneMatch] == nil else {
            throw APIError(.invalidRequest, "What changes something takes no If-None-Match: leave the header out.")
        }
        guard let text = request.headers[.ifMatch] else { return nil }
        guard route.takesCondition else {
            throw APIError(.invalidRequest, "This path takes no If-Match: leave the header out.")
        }
        return try EntityTagCondition(parsing: text)
    }

    private static let onlyLooks = APIError(
        .notPermitted,
        "This socket is for looking only: name the daemon's other one with --socket, for which its group has to be yours."
    )

    /// What no route answers: another method of a path that there is, or a path that there is not.
    private func unknown(_ request: Request) throws(APIError) -> Response {
        let path = request.uri.path
        let routes = Methods.routes(at: path)
        guard !routes.isEmpty else {
            throw APIError(
                .notFound,
                "This daemon (version \(version)) has no \(request.method) \(path): see openapi.json for what it has.")
        }
        let allowed = Methods.allowed(routes)
        if request.method == .options { try QueryCheck.check(request, taking: routes.flatMap(\.query)) }
        var response =
            request.method == .options
            ? Response(status: .noContent)
            : Answer.problem(
                APIError(.methodNotAllowed, "\(path) takes \(allowed) only, not \(request.method)."), in: .requests)
        response.headers[.allow] = allowed
        return response
    }
}
