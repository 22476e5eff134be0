import AsyncHTTPClient
import HTTPCoding
import NIOCore
import NIOHTTP1

/// The typed client of the local API, for one socket.
package struct LocalClient: Sendable {
    /// Where the daemon listens; errors name it.
    package let socketPath: String
    let patienceSeconds: Int
    let http: HTTPClient

    /// So long a daemon may say nothing before it counts as stuck: twice as long as one that tells events is ever silent, and longer
    /// than the slowest disk of a field laptop makes anybody wait.
    package static let patienceSeconds = 30

    /// Runs the body with a client and closes its connections afterwards.
    ///
    /// - Parameter patienceSeconds: after so many seconds without a byte an answer is given up, with `unavailable`.
    package static func with<Value>(
        socketPath: String, patienceSeconds: Int = Self.patienceSeconds, _ body: (LocalClient) async throws -> Value
    ) async throws -> Value {
        var configuration = HTTPClient.Configuration()
        // A daemon that is not there is told at once, not after ten seconds of trying.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(5)
        configuration.timeout.read = .seconds(Int64(patienceSeconds))
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let value = try await body(
                LocalClient(socketPath: socketPath, patienceSeconds: patienceSeconds, http: http))
            try? await http.shutdown()
            return value
        } catch {
            try? await http.shutdown()
            throw error
        }
    }

    /// Sends a request and hands back a good answer; throws the daemon's problem as an `APIError`.
    func send(
        _ method: HTTPMethod, _ path: [String], query: [(String, String)] = [], body: (any Encodable & Sendable)? = nil,
        accept: String = "application/json"
    ) async throws -> HTTPClientResponse {
        let response = try await answer(method, path, query: query, body: body, accept: accept)
        guard (200..<300).contains(response.status.code) else { throw await problem(in: response) }
        return response
    }

    /// Sends a request and hands back whatever is answered.
    func answer(
        _ method: HTTPMethod, _ path: [String], query: [(String, String)] = [], body: (any Encodable & Sendable)? = nil,
        accept: String = "application/json", headers: [(String, String)] = []
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: url(path, query: query))
        request.method = method
        request.headers.add(name: "Accept", value: accept)
        request.headers.add(name: MusterVersion.headerName, value: MusterVersion.current)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: try JSON.encode(body)))
        }
        do {
            return try await http.execute(request, deadline: .distantFuture)
        } catch {
            throw connectionFailure(error)
        }
    }

    /// Sends a request and reads the whole answer as JSON of a type.
    func call<Value: Decodable>(
        _ method: HTTPMethod, _ path: [String], query: [(String, String)] = [],
        body: (any Encodable & Sendable)? = nil
    ) async throws -> Value {
        let response = try await send(method, path, query: query, body: body)
        do {
            let bytes = try await response.body.collect(upTo: 64 << 20)
            return try JSON.decode(from: bytes.readableBytesView)
        } catch let error as DecodingError {
            throw unexpected(error, in: response)
        } catch {
            throw connectionFailure(error)
        }
    }

    private func url(_ path: [String], query: [(String, String)]) -> String {
        let segments = path.map { "/" + PercentCoding.encode($0) }.joined()
        let pairs = query.map { "\($0.0)=\(PercentCoding.encode($0.1))" }.joined(separator: "&")
        return "http+unix://\(PercentCoding.encode(socketPath))/v1\(segments)\(pairs.isEmpty ? "" : "?" + pairs)"
    }
}
