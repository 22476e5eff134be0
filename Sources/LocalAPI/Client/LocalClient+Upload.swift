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
        var request = request(.POST, path, query: query)
        request.headers.add(name: "Content-Type", value: mediaType)
        request.body = .pieces(next)
        let response: LocalAnswer
        do { response = try await execute(request) } catch {
            throw connectionFailure(error, isWrite: isWrite)
        }
        guard response.status == .ok else { throw await problem(in: response) }
        return try await decoded(response, isWrite: isWrite)
    }
}
