import AsyncHTTPClient
import HTTPCoding
import NIOCore
import NIOHTTP1

extension LocalClient {
    /// Sends a file of any length in pieces, and reads the answer.
    ///
    /// No silence counts while its pieces go out one after another: a slow disk takes its time.
    ///
    /// - Parameter next: the next piece; nil at the end. One is asked for when the daemon has taken the last.
    func upload<Value: Decodable>(
        _ path: [String], query: [(String, String)] = [], mediaType: String, isWrite: Bool,
        _ next: @escaping @Sendable () async throws -> [UInt8]?
    ) async throws -> Value {
        var request = HTTPClientRequest(url: url(path, query: query))
        request.method = .POST
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "Content-Type", value: mediaType)
        request.headers.add(name: MusterVersion.headerName, value: MusterVersion.current)
        let pieces = AsyncThrowingStream<ByteBuffer, any Error> { try await next().map { ByteBuffer(bytes: $0) } }
        request.body = .stream(pieces, length: .unknown)
        let response: HTTPClientResponse
        do { response = try await http.execute(request, deadline: .distantFuture) } catch {
            throw connectionFailure(error, isWrite: isWrite)
        }
        guard response.status == .ok else { throw await problem(in: response) }
        return try await decoded(response, isWrite: isWrite)
    }
}
