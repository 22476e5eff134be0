import HTTPCoding
import Hummingbird

/// The methods of HTTP that follow from a path's routes (RFC 9110 section 9.3).
enum Methods {
    /// What is answered as a route's method is.
    static func answering(as method: HTTPRequest.Method) -> [HTTPRequest.Method] {
        method == .get ? [.get, .head] : [method]
    }

    /// What a path takes; empty where there is no such path.
    static func routes(at path: String) -> [Route] {
        let routes = Route.all.filter { PathPattern($0.path).matches(path) }
        // `/v1/queue/log` is of two forms, and only the one without a variable is answered.
        let meant = routes.map { PathPattern($0.path).literalCount }.max()
        return routes.filter { PathPattern($0.path).literalCount == meant }
    }

    /// The same as the header `Allow` lists it.
    static func allowed(_ routes: [Route]) -> String {
        (routes.flatMap { answering(as: $0.method) } + [.options]).map(\.rawValue).joined(separator: ", ")
    }

    /// The answer to HEAD.
    ///
    /// What is written while it is read has no length that could be told, and the encoder closes it with an empty chunk: nothing
    /// may follow that on the connection.
    static func withoutBody(_ response: Response) -> Response {
        let hasLength = response.headers[.contentLength] != nil
        var head = response.createHeadResponse()
        guard !hasLength else { return head }
        head.headers[.contentLength] = nil
        head.headers[.connection] = "close"
        return head
    }
}
