import NIOCore
import NIOHTTP1

/// What is asked of a daemon.
struct LocalRequest: Sendable {
    var method: HTTPMethod
    /// Path and query, encoded.
    var target: String
    var headers = HTTPHeaders()
    var body = Body.none

    enum Body: Sendable {
        case none
        case bytes(ByteBuffer)
        /// Of a length that nobody knows before their end, which is nil. The next is asked for when the last has gone out.
        case pieces(@Sendable () async throws -> [UInt8]?)
    }

    /// As it goes over the wire: with what HTTP wants of every request.
    var head: HTTPRequestHead {
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
        if !head.headers.contains(name: "Host") { head.headers.add(name: "Host", value: "localhost") }
        head.headers.add(name: "Connection", value: "close")
        switch body {
        case .none where [.POST, .PUT, .PATCH].contains(method): head.headers.add(name: "Content-Length", value: "0")
        case .none: break
        case .bytes(let bytes): head.headers.add(name: "Content-Length", value: "\(bytes.readableBytes)")
        case .pieces: head.headers.add(name: "Transfer-Encoding", value: "chunked")
        }
        return head
    }
}

/// What a daemon answers; its body comes while it is read.
struct LocalAnswer: Sendable {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    let body: Body

    /// To be read once. Where nobody holds it any more, the connection is closed.
    struct Body: AsyncSequence, Sendable {
        let connection: LocalConnection

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(connection: connection) }

        struct AsyncIterator: AsyncIteratorProtocol {
            let connection: LocalConnection

            func next() async throws -> ByteBuffer? {
                guard case .body(let piece) = try await connection.next() else { return nil }
                return piece
            }
        }
    }
}

/// An answer that has come to its end.
struct WholeAnswer: Sendable {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    let body: ByteBuffer
}
