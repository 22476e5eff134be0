import CRDT
import HTTPTypes
import Hummingbird
import Identity
import Logging
import ServerChannel
import Storage
import Synchronization

/// Finds the route of a request, asks who it is, and turns whatever is thrown into a problem document.
struct ChannelResponder: Sendable {
    private let routes: RouterResponder<ChannelContext>
    private let service: ChannelService
    private let logger: Logger
    private let refusals: RefusalLog

    init(service: ChannelService, logger: Logger) {
        let callers = CallerCheck(identity: service.identity, now: service.now)
        let limiter = ConcurrencyLimiter()
        let router = Router(context: ChannelContext.self)
        for route in Route.all {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                let judge = { @Sendable in _ = try await callers.member(showing: context.chain) }
                func exchange(_ access: JobAccess) -> Exchange {
                    Exchange(request: request, context: context, access: access, judgeAgain: judge)
                }
                let acceptsGzip = (request.headers[.acceptEncoding] ?? "").lowercased().contains("gzip")
                guard route.isForMembers else {
                    let exchange = exchange(JobAccess(DeviceID(high: 0, low: 0), isInGrace: true))
                    return try await route.answer(exchange, service).response(acceptsGzip: acceptsGzip)
                }
                let member = try await callers.member(showing: context.chain)
                try context.permit.begin(limiter, member.key.device.short)
                let answer = try await route.answer(exchange(member.jobAccess), service)
                // Whoever waits for news may have been shut out meanwhile. (What was written is written.)
                if route.method == .get { try await judge() }
                return answer.response(acceptsGzip: acceptsGzip)
            }
        }
        routes = router.buildResponder()
        self.service = service
        self.logger = logger
        refusals = RefusalLog(logger: logger)
    }

    func respond(to request: Request, context: ChannelContext) async -> Response {
        let received = service.now.microseconds
        var context = context
        context.received = received
        var response: Response
        do {
            response = try await routes.respond(to: request, context: context)
            // The router answers what it does not know with a body of its own.
            if response.status == .notFound, response.headers[.contentType] != ChannelHeader.problem {
                response = unknown(request)
            }
        } catch {
            let problem = problem(error, request)
            let caller = context.permit.name ?? context.remote
            refusals.note(problem, by: caller, path: request.uri.path)
            response = Answer.problem(problem).response(acceptsGzip: false)
        }
        set(ChannelHeader.received, String(received), in: &response)
        set(ChannelHeader.answered, String(service.now.microseconds), in: &response)
        // To members only: their permit was asked for.
        if context.permit.name != nil {
            set(ChannelHeader.revocations, service.identity.revocations.withLock { $0.fingerprintText }, in: &response)
        }
        logger.debug(
            "request answered",
            metadata: [
                "method": "\(request.method)", "path": "\(request.uri.path)", "status": "\(response.status.code)",
                "microseconds": "\(service.now.microseconds - received)",
            ])
        return response
    }

    private func set(_ name: String, _ value: String, in response: inout Response) {
        if let name = HTTPField.Name(name) { response.headers[name] = value }
    }

    private func unknown(_ request: Request) -> Response {
        let methods = Route.all.filter { $0.matches(request.uri.path) }.map(\.method.rawValue)
        guard !methods.isEmpty else {
            let sentence = "There is no \(request.uri.path) here; see openapi.json for what there is."
            return Answer.problem(ChannelProblem(.notFound, sentence)).response(acceptsGzip: false)
        }
        let allowed = methods.joined(separator: ", ")
        let problem = ChannelProblem(.methodNotAllowed, "\(request.uri.path) takes \(allowed) only.")
        var answer = Answer.problem(problem)
        answer.headers[.allow] = allowed
        return answer.response(acceptsGzip: false)
    }

    private func problem(_ error: any Error, _ request: Request) -> ChannelProblem {
        switch error {
        case let error as ChannelProblem: return error
        case let error as MalformedMessage: return ChannelProblem(.malformed, error.sentence)
        case let error as CodecError:
            return ChannelProblem(.malformed, "A run of journal is malformed (\(error)); nothing was changed.")
        case is CancellationError:
            return ChannelProblem(.unavailable, "The server is stopping, or the caller has gone.")
        default: break
        }
        let failure = StoreError(error)
        switch failure.code {
        case .unknownJob: return ChannelProblem(.unknownJob, "The server has no such job.")
        case .diskFull, .readOnly, .busy:
            logger.error("the store cannot be written", metadata: ["error": "\(failure.debugDescription)"])
            return ChannelProblem(.unavailable, "The server cannot store anything now; try again later.")
        default:
            logger.error(
                "request failed",
                metadata: [
                    "method": "\(request.method)", "path": "\(request.uri.path)",
                    "error": "\(failure.debugDescription)",
                ])
            return ChannelProblem(.failed, "The server failed at this request; see its log.")
        }
    }
}
