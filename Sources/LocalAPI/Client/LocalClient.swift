import FoundationEssentials
import HTTPCoding
import NIOCore
import NIOHTTP1

/// The typed client of the local API, for one socket.
package struct LocalClient: Sendable {
    /// Where the daemon listens; errors name it.
    package let socketPath: String
    let timeoutSeconds: Int

    /// So long a daemon may say nothing before it counts as stuck, unless more is granted.
    package static let timeoutSeconds = LocalConnection.patienceSeconds

    /// Runs the body with a client. Each request has a connection of its own, so nothing is left to be closed.
    ///
    /// - Parameter timeoutSeconds: after so many seconds of waiting without a byte an answer is given up, with `unavailable`. What whoever
    ///   reads it takes for what has come does not count: a pager shows a screen for as long as a person likes.
    package static func with<Value>(
        socketPath: String, timeoutSeconds: Int = Self.timeoutSeconds, _ body: (LocalClient) async throws -> Value
    ) async throws -> Value {
        try await body(LocalClient(socketPath: socketPath, timeoutSeconds: timeoutSeconds))
    }

    /// Sends a request and hands back a good answer; throws the daemon's problem as an `APIError`.
    func send(
        _ method: HTTPMethod, _ path: [String], query: [(String, String)] = [], body: (any Encodable & Sendable)? = nil,
        headers: [(String, String)] = []
    ) async throws -> WholeAnswer {
        try good(try await answer(method, path, query: query, body: body, headers: headers))
    }

    /// Sends a request and hands back whatever is answered.
    func answer(
        _ method: HTTPMethod, _ path: [String], query: [(String, String)] = [], body: (any Encodable & Sendable)? = nil,
        headers: [(String, String)] = []
    ) async throws -> WholeAnswer {
        var request = try request(method, path, query: query, body: body)
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        let isKeyed = method != .GET && Self.takesKey(path, query)
        if isKeyed, !request.headers.contains(name: "Idempotency-Key") {
            request.headers.add(name: "Idempotency-Key", value: UUID().uuidString)
        }
        do {
            return try await whole(request)
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
    private func repeated(_ request: LocalRequest, after first: any Error) async throws -> WholeAnswer {
        var failure = first
        for _ in 0..<Self.mostRepetitions {
            try await Task.sleep(for: .milliseconds(500))
            do {
                return try await whole(request)
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
        try decoded(try await send(method, path, query: query, body: body, headers: headers))
    }

    /// A request as this version makes them, with a body in JSON where there is one.
    func request(
        _ method: HTTPMethod, _ path: [String], query: [(String, String)], accept: String = "application/json",
        body: (any Encodable & Sendable)? = nil
    ) throws -> LocalRequest {
        let segments = path.map { "/" + PercentCoding.encode($0) }.joined()
        let pairs = query.map { "\($0.0)=\(PercentCoding.encode($0.1))" }.joined(separator: "&")
        var request = LocalRequest(method: method, target: "/v1\(segments)\(pairs.isEmpty ? "" : "?" + pairs)")
        request.headers.add(name: "Accept", value: accept)
        request.headers.add(name: MusterVersion.headerName, value: MusterVersion.current)
        request.headers.add(name: CallerWords.headerName, value: CallerWords.commands.rawValue)
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: try JSON.encode(body)))
        }
        return request
    }

    func execute(_ request: LocalRequest) async throws -> LocalAnswer {
        try await LocalConnection.answer(to: request, at: socketPath, timeoutSeconds: timeoutSeconds)
    }

    /// The answer to its end: one that is cut off is none.
    func whole(_ request: LocalRequest) async throws -> WholeAnswer { try await whole(try await execute(request)) }

    func whole(_ answer: LocalAnswer) async throws -> WholeAnswer {
        do {
            let body = try await answer.body.collect(upTo: Self.mostBytes)
            return WholeAnswer(status: answer.status, headers: answer.headers, body: body)
        } catch is NIOTooManyBytesError {
            throw foreign("its answer is longer than \(Self.mostBytes >> 20) MiB")
        }
    }

    /// Of an answer that lies in memory as a whole.
    private static let mostBytes = 64 << 20
}
