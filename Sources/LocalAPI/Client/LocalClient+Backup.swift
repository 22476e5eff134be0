import AsyncHTTPClient
import HTTPCoding
import NIOCore
import NIOHTTP1

/// Copies of the store, which are files.
extension LocalClient {
    /// So long the daemon may be silent while it copies, checks or takes in a whole store, in seconds.
    package static let copyTimeoutSeconds = 600

    /// `GET /v1/backup`: 200; calls back with the bytes in their order, and with how many there are.
    ///
    /// - Throws: also where they end too early.
    package func backup(_ each: ([UInt8], _ size: Int) async throws -> Void) async throws {
        var (size, count): (Int?, Int) = (nil, 0)
        try await pieces(["backup"], accept: "*/*") { piece, response in
            let whole = response.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            size = whole
            count += piece.readableBytes
            try await each(Array(piece.readableBytesView), whole)
        }
        guard count > 0, count == size else {
            throw APIError(.unavailable, "The backup broke off before its end; make it again.")
        }
    }

    /// `POST /v1/restore`: 200; 422 for what is no backup, or of nobody of the daemon's fleet.
    ///
    /// - Parameter next: the next piece of the file; nil at its end.
    package func restore(
        isPreview: Bool, _ next: @escaping @Sendable () async throws -> [UInt8]?
    ) async throws -> RestoreReport {
        var request = HTTPClientRequest(url: url(["restore"], query: isPreview ? [("preview", "true")] : []))
        request.method = .POST
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: MusterVersion.headerName, value: MusterVersion.current)
        request.headers.add(name: "Content-Type", value: "application/vnd.sqlite3")
        let pieces = AsyncThrowingStream<ByteBuffer, any Error> { try await next().map { ByteBuffer(bytes: $0) } }
        request.body = .stream(pieces, length: .unknown)
        let response: HTTPClientResponse
        do { response = try await http.execute(request, deadline: .distantFuture) } catch {
            throw connectionFailure(error, isWrite: !isPreview)
        }
        guard response.status == .ok else { throw await problem(in: response) }
        return try await decoded(response, isWrite: !isPreview)
    }
}
