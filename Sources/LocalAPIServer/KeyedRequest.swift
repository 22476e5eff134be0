import HTTPTypes
import Hummingbird
package import LocalAPI
import NIOCore

/// A request that its caller sends again until it hears the answer, under one key (IETF draft-ietf-httpapi-idempotency-key-header-07,
/// "The Idempotency-Key HTTP Header Field"). One word, since it goes through async functions.
package final class KeyedRequest: Sendable {
    /// As the caller wrote it: 1 to 255 visible characters of ASCII.
    package let key: String
    /// What tells it from another request: its method, path, query and body.
    package let request: [UInt8]
    /// Whether it can be carried out again where it was ended in its midst: what it makes is known again.
    package let isResumable: Bool
    /// Its answer, from what it has written; nil where that does not tell it.
    package let recover: @Sendable (WrittenParts) throws -> APIAnswer?

    /// Takes all as it is.
    package init(
        key: String, request: [UInt8], isResumable: Bool = false,
        recover: @escaping @Sendable (WrittenParts) throws -> APIAnswer? = { _ in nil }
    ) {
        self.key = key
        self.request = request
        self.isResumable = isResumable
        self.recover = recover
    }
}

/// What a request has written, as the API names it.
package struct WrittenParts: Sendable {
    /// The job's full id.
    package let job: String
    /// The items, each once, in the order in which they were written first.
    package let items: [String]
    /// The item that the last one stands for, where it was restored.
    package let replaces: String?
    /// The tokens of what it asks the server for.
    package let tokens: [String]
    /// What was signed, where it asks for a signature.
    package let signedDigest: String?
    /// What was removed, as people know it.
    package let removed: [RemovedItem]
    /// Of what was written to items: where the job is over or signed for.
    package let amends: AmendedJob?

    /// Takes whole ids.
    package init(
        job: String, items: [String], replaces: String?, tokens: [String], signedDigest: String?,
        removed: [RemovedItem], amends: AmendedJob?
    ) {
        self.removed = removed
        self.amends = amends
        self.job = job
        self.items = items
        self.replaces = replaces
        self.tokens = tokens
        self.signedDigest = signedDigest
    }
}

/// An answer in JSON, whole.
package struct APIAnswer: Sendable {
    /// Of HTTP.
    package let status: Int
    /// What stands in `ETag`, with its quotes.
    package let tag: String?
    /// JSON.
    package let body: [UInt8]

    /// Takes an answer as it was given.
    package init(status: Int, tag: String?, body: [UInt8]) {
        self.status = status
        self.tag = tag
        self.body = body
    }

    /// Reads one to its end.
    init(_ response: Response) async throws {
        let collected = CollectedBody()
        try await response.body.write(collected)
        self.init(status: response.status.code, tag: response.headers[.eTag], body: collected.bytes)
    }

    var response: Response {
        var response = Answer.document(body)
        response.status = HTTPResponse.Status(code: status)
        if let tag { response.headers[.eTag] = tag }
        return response
    }
}

private final class CollectedBody: ResponseBodyWriter {
    private(set) var bytes: [UInt8] = []

    func write(_ buffer: ByteBuffer) async throws { bytes += buffer.readableBytesView }
    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

extension KeyedRequest {
    /// Reads the header and the body; nil where there is no key.
    ///
    /// - Returns: also the request with its body, which has been read.
    static func read(_ request: Request, of route: Route) async throws -> (keyed: KeyedRequest, request: Request)? {
        guard route.method != .get, let name = HTTPField.Name("Idempotency-Key"), let key = request.headers[name] else {
            return nil
        }
        guard route.takesKey else {
            throw APIError(.invalidRequest, "This path takes no Idempotency-Key: leave the header out.")
        }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw APIError(
                .invalidRequest, "An Idempotency-Key has 1 to 255 visible characters of ASCII: draw a UUID, for one.")
        }
        let body = try await request.wholeBody()
        let asked = Array("\(request.method) \(request.uri.description)\n".utf8) + body.readableBytesView
        let keyed = KeyedRequest(key: key, request: asked, isResumable: route.isResumable, recover: route.recover)
        return (keyed, Request(head: request.head, body: RequestBody(buffer: body)))
    }
}
