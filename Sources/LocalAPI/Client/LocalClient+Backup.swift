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
        try await upload(
            ["restore"], query: isPreview ? [("preview", "true")] : [], mediaType: "application/vnd.sqlite3",
            isWrite: !isPreview, next)
    }
}
