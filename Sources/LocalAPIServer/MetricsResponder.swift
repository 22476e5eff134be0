import HTTPTypes
import Hummingbird
import LocalAPI
import Logging
import NIOCore

/// What is answered at the port for Prometheus.
struct MetricsResponder: Sendable {
    static let path = "/metrics"
    private static let methods = "GET, HEAD"

    let address: MetricsAddress
    let logger: Logger
    let metrics: @Sendable () async throws -> [Metric]

    func respond(to request: Request) async -> Response {
        let response = await answer(to: request)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(to request: Request) async -> Response {
        guard request.headers[.origin] == nil, address.isMeant(by: request.head.authority ?? "") else {
            return Self.refusal(.forbidden, "A page in a browser may not ask this daemon; ask it by its address.")
        }
        guard request.uri.path == Self.path else {
            return Self.refusal(.notFound, "There is nothing but \(Self.path) here.")
        }
        guard request.method == .get || request.method == .head else {
            var response = Self.refusal(.methodNotAllowed, "\(Self.path) takes \(Self.methods) only.")
            response.headers[.allow] = Self.methods
            return response
        }
        do {
            // Beside the event loop's thread, as on the socket: jobs may have to be counted.
            let told = try await withTaskExecutorPreference(globalConcurrentExecutor) { try await metrics() }
            return Self.text(.ok, Metric.mediaType, Metric.prometheus(told))
        } catch {
            logger.error("the figures could not be told", metadata: ["error": "\(error)"])
            return Self.refusal(.internalServerError, "The daemon failed at this request; see its log.")
        }
    }

    private static func refusal(_ status: HTTPResponse.Status, _ sentence: String) -> Response {
        text(status, "text/plain; charset=utf-8", sentence + "\n")
    }

    private static func text(_ status: HTTPResponse.Status, _ mediaType: String, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: mediaType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
