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
        var request = try request(.POST, path, query: query)
        request.headers.add(name: "Content-Type", value: mediaType)
        request.body = .pieces(next)
        do { return try decoded(try good(try await whole(request))) } catch {
            throw connectionFailure(error, isWrite: isWrite)
        }
    }
}
