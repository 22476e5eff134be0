import AsyncHTTPClient
import FoundationEssentials
import HTTPCoding
import NIOCore
import NIOHTTP1

/// The typed client of the local API, for one socket.
package struct LocalClient: Sendable {
    /// Where the daemon listens; errors name it.
    package let socketPath: String
    let timeoutSeconds: Int
    var http: HTTPClient

    /// So long a daemon may say nothing before it counts as stuck: twice as long as one that tells events is ever silent, and longer
    /// than the slowest disk of a field laptop makes anybody wait.
    package static let timeoutSeconds = 30

    /// Runs the body with a client and closes its connections afterwards.
    ///
    /// - Parameter timeoutSeconds: after so many seconds without a byte an answer is given up, with `unavailable`.
    package static func with<Value>(
        socketPath: String, timeoutSeconds: Int = Self.timeoutSeconds, _ body: (LocalClient) async throws -> Value
    ) async throws -> Value {
        let http = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: Self.configuration(timeoutSeconds: timeoutSeconds))
        do {
            let value = try await body(
                LocalClient(socketPath: socketPath, timeoutSeconds: timeoutSeconds, http: http))
            try? await http.shutdown()
            return value
        } catch {
            try? await http.shutdown()
            throw error
        }
    }

    /// - Parameter timeoutSeconds: nil where whoever reads the answer looks to that (`IdleTimeout`): the client's own clock runs on while
    ///   nobody takes what has come.
    static func configuration(timeoutSeconds: Int?) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        // A daemon that is not there is told at once, not after ten seconds of trying.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(Int64(min(5, timeoutSeconds ?? 5)))
        configuration.timeout.read = timeoutSeconds.map { .seconds(Int64($0)) }
        return configuration
    }

    /// Sends a request and hands back a good answer; throws the daemon's problem as an `APIError`.
    func send(
        _ method: HTTPMethod, _ path: [String], query: [(String, String)] = [], body: (any Encodable & Sendable)? = nil,
        accept: String = "application/json", headers: [(String, String)] = []
    ) async throws -> HTTPClientResponse {
        let response = try await answer(method, path, query: query, body: body, accept: accept, headers: headers)
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
        let isKeyed = method != .GET && Self.takesKey(path, query)
        if isKeyed, !request.headers.contains(name: "Idempotency-Key") {
            request.headers.add(name: "Idempotency-Key", value: UUID().uuidString)
        }
        do {
            return try await http.execute(request, deadline: .distantFuture)
        } catch {
            guard isKeyed, Self.hasBrokenOff(error) else {
                // An import knows its rows again: the same command goes on.
                throw connectionFailure(error, isWrite: method != .GET && !Self.isImport(path))
            }
            return try await repeated(request, after: error)
        }
    }

    /// Where a person's work is written, and a second time would be too much. Rows of an import have ids by which they are known again, and
    /// a preview writes nothing.
    private static func takesKey(_ path: [String], _ query: [(String, String)]) -> Bool {
        path.first == "jobs" && !isImport(path) && !query.contains { $0.0 == "preview" }
    }

    private static func isImport(_ path: [String]) -> Bool { path.count == 3 && path[2] == "import" }

    /// Sends a request again whose daemon went away in its midst, until one is back: under its key it is carried out once, and the answer
    /// of the first time is told again.
    private func repeated(_ request: HTTPClientRequest, after first: any Error) async throws -> HTTPClientResponse {
        var failure = first
        for _ in 0..<Self.mostRepetitions {
            try await Task.sleep(for: .milliseconds(500))
            do {
                return try await http.execute(request, deadline: .distantFuture)
            } catch {
                guard Self.hasBrokenOff(error) || Self.isAbsent(error) else {
                    throw connectionFailure(error, isWrite: true)
                }
                failure = error
            }
        }
        throw connectionFailure(Self.isAbsent(failure) ? first : failure, isWrite: true)
    }

    /// Ten seconds: a daemon that is started anew is back within one or two.
    private static let mostRepetitions = 20

    /// Sends a request and reads the whole answer as JSON of a type.
    func call<Value: Decodable>(
        _ method: HTTPMethod, _ path: [String], query: [(String, String)] = [],
        body: (any Encodable & Sendable)? = nil, headers: [(String, String)] = []
    ) async throws -> Value {
        let response = try await send(method, path, query: query, body: body, headers: headers)
        return try await decoded(response, isWrite: method != .GET)
    }

    /// Reads the whole of an answer.
    func decoded<Value: Decodable>(_ response: HTTPClientResponse, isWrite: Bool) async throws -> Value {
        do {
            let bytes = try await response.body.collect(upTo: 64 << 20)
            return try JSON.decode(from: bytes.readableBytesView)
        } catch let error as DecodingError {
            throw unexpected(error, in: response)
        } catch {
            throw connectionFailure(error, isWrite: isWrite)
        }
    }

    func url(_ path: [String], query: [(String, String)]) -> String {
        let segments = path.map { "/" + PercentCoding.encode($0) }.joined()
        let pairs = query.map { "\($0.0)=\(PercentCoding.encode($0.1))" }.joined(separator: "&")
        return "http+unix://\(PercentCoding.encode(socketPath))/v1\(segments)\(pairs.isEmpty ? "" : "?" + pairs)"
    }
}
