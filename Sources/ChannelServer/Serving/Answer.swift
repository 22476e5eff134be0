import HTTPCoding
import HTTPTypes
import Hummingbird
import NIOCore
import ServerChannel

/// Bytes and what they are, before they are packed and sent.
struct Answer: Sendable {
    var status: HTTPResponse.Status = .ok
    var mediaType: String
    var bytes: [UInt8]
    var headers: HTTPFields = [:]
    var mayBePacked = true

    static func json(_ value: some Encodable) throws -> Answer {
        Answer(mediaType: ChannelHeader.json, bytes: try JSON.encode(value))
    }

    /// In the language that was asked for.
    static func either(
        _ exchange: Exchange, json: () throws -> some Encodable, protobuf: () throws -> [UInt8]
    ) throws -> Answer {
        guard exchange.wantsProtobuf else { return try .json(try json()) }
        return Answer(mediaType: ChannelHeader.protobuf, bytes: try protobuf())
    }

    static func problem(_ problem: ChannelProblem) -> Answer {
        let bytes = (try? JSON.encode(problem)) ?? []
        var answer = Answer(
            status: HTTPResponse.Status(code: problem.status), mediaType: ChannelHeader.problem, bytes: bytes)
        switch problem.code {
        // RFC 9110 section 11.6.1 wants a scheme with it; none is registered for certificates, so this is one of our own.
        case .unauthorised: answer.headers[.wwwAuthenticate] = "Muster-Certificate"
        case .limited: answer.headers[.retryAfter] = "1"
        case .unavailable: answer.headers[.retryAfter] = "5"
        default: break
        }
        return answer
    }

    /// - Parameter acceptsGzip: the caller can unpack.
    func response(acceptsGzip: Bool) -> Response {
        var headers = headers
        headers[.contentType] = mediaType
        headers[.cacheControl] = "no-store"
        headers[.vary] = "Accept, Accept-Encoding"
        var body = bytes
        if acceptsGzip, mayBePacked, bytes.count >= Gzip.worthwhileBytes, let packed = Gzip.pack(bytes),
            packed.count < bytes.count
        {
            headers[.contentEncoding] = "gzip"
            body = packed
        }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
