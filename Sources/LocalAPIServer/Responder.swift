import HTTPCoding
import HTTPTypes
import Hummingbird
import LocalAPI
import Logging

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
                try QueryCheck.check(request, for: route)
                if route.changesJobs { try service.checkThatItWrites() }
                var caller = context.caller
                caller.condition = try Self.condition(of: request, for: route)
                caller.isForcing = try request.flag("force")
                let service = service.serving(caller)
                guard let (keyed, request) = try await KeyedRequest.read(request, of: route) else {
                    return try await Self.answer(request, context, service, route)
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
        var response: Response
        do {
            try BrowserGuard.check(request)
            response = try await routes.respond(to: request, context: context)
            // The router answers what it does not know with a body of its own.
            if response.status == .notFound, response.headers[.contentType] != Problem.mediaType {
                response = unknown(request)
            }
        } catch let error as APIError {
            response = Answer.problem(error)
        } catch {
            response = Answer.problem(APIError(.failed, "The daemon failed at this request: see its log."))
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
        guard route.isLong else { return try await route.answer(request, context, service) }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) {
            try await route.answer(request, context, service)
        }
    }

    /// - Throws: `invalidRequest` where a condition would be passed over.
    private static func condition(of request: Request, for route: Route) throws(APIError) -> EntityTagCondition? {
        guard let text = request.headers[.ifMatch], route.method != .get else { return nil }
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
    private func unknown(_ request: Request) -> Response {
        let path = request.uri.path
        let allowed = Methods.allowed(at: path)
        guard let allowed else {
            return Answer.problem(
                APIError(
                    .notFound,
                    "This daemon (version \(version)) has no \(request.method) \(path): see openapi.json for what it has."
                ))
        }
        var response =
            request.method == .options
            ? Response(status: .noContent)
            : Answer.problem(APIError(.methodNotAllowed, "\(path) takes \(allowed) only, not \(request.method)."))
        response.headers[.allow] = allowed
        return response
    }
}
