import HTTPCoding
import Hummingbird
import LocalAPI
import NIOCore

/// Responses of the local API.
enum Answer {
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        var response = document(try JSON.encode(value))
        response.status = status
        if let tag = (value as? any Tagged)?.entityTag { response.headers[.eTag] = "\"\(tag)\"" }
        return response
    }

    /// JSON that stands ready.
    static func document(_ bytes: [UInt8]) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func problem(_ error: APIError, in words: CallerWords) -> Response {
        let body = (try? JSON.encode(Problem(words.told(error)))) ?? []
        return Response(
            status: HTTPResponse.Status(code: error.code.status),
            headers: [.contentType: Problem.mediaType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// A JSON array written while it is read; JSON lines for a caller that accepts only those.
    static func elements<Element: Encodable & Sendable>(_ batches: Batches<Element>, for request: Request) -> Response {
        let form = ElementForm(for: request)
        return Response(
            status: .ok,
            headers: [.contentType: form.mediaType],
            body: ResponseBody { writer in
                var isEmpty = true
                var before = form.opening
                let pieces = PullSequence { try await batches.next()?.map { try JSON.encode($0) } }
                for try await piece in pieces {
                    var buffer = ByteBuffer()
                    for element in piece {
                        buffer.writeString(before)
                        buffer.writeBytes(element)
                        before = form.separator
                        isEmpty = false
                    }
                    try await writer.write(buffer)
                }
                try await writer.write(ByteBuffer(string: (isEmpty ? before : "") + form.closing(isEmpty: isEmpty)))
                try await writer.finish(nil)
            })
    }

    /// - Parameter size: of all together, in bytes; nil where nobody knows.
    static func chunks(_ chunks: Chunks, mediaType: String, size: Int? = nil) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: mediaType],
            body: ResponseBody(contentLength: size) { writer in
                for try await chunk in chunks {
                    try await writer.write(ByteBuffer(bytes: chunk))
                }
                try await writer.finish(nil)
            })
    }
}

extension ElementForm {
    /// Lines for a caller that accepts only those.
    init(for request: Request) {
        self = request.headers[.accept] == Self.linesMediaType ? .lines : .array
    }
}
