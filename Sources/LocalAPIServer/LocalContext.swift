import HTTPCoding
import Hummingbird
import LocalAPI
import Logging
import NIOCore

/// What a route knows of its request.
struct LocalContext: RequestContext {
    /// The largest body that is read, in bytes: a batch of `ItemBatch.largest` items of the usual size.
    static let bodyLimit = 4 << 20

    var coreContext: CoreRequestContextStorage
    /// Who asks.
    var caller = LocalCaller()
    /// How often a stream of events says that it stands.
    var heartbeat = Duration.seconds(15)

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}

extension LocalContext {
    /// A segment of the path, decoded.
    func parameter(_ name: String) throws -> String {
        guard let text = parameters.get(name), let value = PercentCoding.decode(text) else {
            throw APIError(
                .invalidRequest, "The path is not valid percent-encoded UTF-8: encode names as RFC 3986 says.")
        }
        return value
    }
}

extension Request {
    /// The body as JSON of the type, which has all keys that it names.
    func decode<Value: ClosedBody>(_ type: Value.Type) async throws -> Value {
        let buffer = try await wholeBody()
        do {
            try JSON.check(buffer.readableBytesView)
            return try JSON.decode(CheckedBody<Value>.self, from: buffer.readableBytesView).body
        } catch let fault as JSONFault {
            throw APIError(.invalidRequest, "The body is not what this path takes: \(fault.sentence).")
        }
    }

    /// The same request, of which it is known that it says nothing that would be passed over.
    func withoutBody() async throws -> Request {
        guard ![.get, .head].contains(method) else {
            // It is not waited for: a stream of events is answered before its request ends.
            guard headers[.transferEncoding] == nil, ["0", nil].contains(headers[.contentLength]) else {
                throw APIError(.invalidRequest, "\(method) takes no body: ask by the query, and leave the body out.")
            }
            return self
        }
        let body = try await wholeBody()
        let rest = Request(head: head, body: RequestBody(buffer: body))
        if body.readableBytes > 0 { _ = try await rest.decode(NoBody.self) }
        return rest
    }

    /// The body as it came.
    func wholeBody() async throws -> ByteBuffer {
        do {
            return try await body.collect(upTo: LocalContext.bodyLimit)
        } catch is NIOTooManyBytesError {
            throw APIError(.tooLarge, "The request is larger than 4 MiB: send it in smaller batches.")
        }
    }

    /// A parameter of the query, decoded; nil when it is not there.
    func query(_ name: String) -> String? { queries(name).first }

    /// A parameter that is `true` or `false`; false when it is not there.
    func flag(_ name: String) throws(APIError) -> Bool {
        guard let text = query(name) else { return false }
        guard let value = Bool(text) else {
            throw APIError(.invalidRequest, "'\(name)' is true or false, not '\(text)'.")
        }
        return value
    }

    /// All values of a parameter, in their order.
    func queries(_ name: String) -> [String] { QueryParameters(uri.query)?.values(of: name) ?? [] }
}
