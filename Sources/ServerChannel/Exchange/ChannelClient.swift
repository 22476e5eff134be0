import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
package import Timekeeping

/// Asks the server, in its language for daemons, and hears the time with every answer.
package final class ChannelClient: Sendable {
    /// Of an answer, unpacked.
    private static let answerBytes = 16 << 20

    let address: ServerAddress
    private let timeouts: ResponseTimeouts
    private let readToken: @Sendable () -> String?
    /// Nil before the first request, and when the server has refused it.
    private let token = Mutex<String?>(nil)
    private let elapsed: @Sendable () -> Int64
    private let hear: @Sendable (TimeExchange) async -> Void
    private let http: Mutex<HTTPClient>

    /// - Parameters:
    ///   - readToken: what the server's owner made for this device; asked again whenever the server refuses the last
    ///     one.
    ///   - elapsed: microseconds of a clock that never goes back.
    ///   - hear: gets what every answer says of the time, before the answer itself is handed on.
    package convenience init(
        address: ServerAddress, readToken: @escaping @Sendable () -> String?, elapsed: @escaping @Sendable () -> Int64,
        hearing hear: @escaping @Sendable (TimeExchange) async -> Void
    ) {
        self.init(
            address: address, readToken: readToken, timeouts: ResponseTimeouts(), elapsed: elapsed, hearing: hear)
    }

    init(
        address: ServerAddress, readToken: @escaping @Sendable () -> String?, timeouts: ResponseTimeouts,
        elapsed: @escaping @Sendable () -> Int64,
        hearing hear: @escaping @Sendable (TimeExchange) async -> Void
    ) {
        self.address = address
        self.timeouts = timeouts
        self.readToken = readToken
        self.elapsed = elapsed
        self.hear = hear
        http = Mutex(Self.makeHTTP())
    }

    private static func makeHTTP() -> HTTPClient {
        HTTPClient(eventLoopGroupProvider: .singleton, configuration: ServerClock.configuration)
    }

    /// From now on requests go through new connections. (Nothing goes through those that began at an address which this
    /// machine has no more, and nobody says so.)
    ///
    /// - Parameter endingWhatIsUnderWay: requests without an answer are lost at once, not when their time is over.
    package func connectAnew(endingWhatIsUnderWay: Bool) {
        let fresh = Self.makeHTTP()
        let former = http.withLock { http in
            defer { http = fresh }
            return http
        }
        Task { [timeouts] in
            if !endingWhatIsUnderWay { try? await Task.sleep(for: timeouts.silence + timeouts.whole) }
            try? await former.shutdown()
        }
    }

    /// Ends all connections for good: requests under way and later ones are lost.
    package func close() async {
        try? await http.withLock { $0 }.shutdown()
    }

    /// One request.
    struct Ask: Sendable {
        var method = HTTPMethod.GET
        /// With the query.
        var path: String
        var body: [UInt8]?
    }

    func execute(_ ask: Ask) async -> ServerReply<[UInt8]> {
        let token = currentToken()
        let request = request(for: ask, token: token)
        let sent = elapsed()
        do {
            let http = http.withLock { $0 }
            let response = try await http.execute(
                request, timeout: timeouts.untilAnswer(sending: ask.body?.count ?? 0))
            let returned = elapsed()
            let buffer = try await timeouts.collect(response.body, upTo: Self.answerBytes)
            var body = Array(buffer.readableBytesView)
            if response.headers.first(name: "Content-Encoding") == "gzip" {
                body = try Gzip.unpack(body, limit: Self.answerBytes)
            }
            let answer = RawAnswer(status: Int(response.status.code), headers: response.headers, body: body)
            if let times = answer.times {
                let exchange = TimeExchange(
                    sent: sent, received: times.received, answered: times.answered, returned: returned)
                if exchange.isPlausible { await hear(exchange) }
            }
            let reply = answer.reply { try? JSONDecoder().decode(ChannelProblem.self, from: Data($0)) }
            if case .unauthorised = reply { forget(token) }
            return reply
        } catch {
            return Self.failure(error)
        }
    }

    private func currentToken() -> String {
        token.withLock { token in
            if token == nil { token = readToken() }
            return token ?? ""
        }
    }

    /// Unless another one has taken its place meanwhile.
    private func forget(_ refused: String) {
        token.withLock { if $0 == refused { $0 = nil } }
    }

    private func request(for ask: Ask, token: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: address.url(ask.path))
        request.method = ask.method
        request.headers.add(name: "Accept", value: ChannelHeader.protobuf)
        request.headers.add(name: "Accept-Encoding", value: "gzip")
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        if let body = ask.body {
            request.headers.add(name: "Content-Type", value: ChannelHeader.protobuf)
            var sent = body
            if body.count >= Gzip.worthwhileBytes, let packed = Gzip.pack(body), packed.count < body.count {
                request.headers.add(name: "Content-Encoding", value: "gzip")
                sent = packed
            }
            request.body = .bytes(ByteBuffer(bytes: sent))
        }
        return request
    }

    /// Whether a request can have arrived decides what may be said of it.
    private static func failure(_ error: any Error) -> ServerReply<[UInt8]> {
        let neverSent: [HTTPClientError] = [
            .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .invalidURL, .emptyHost,
        ]
        if error is NIOConnectionError { return .unreachable("no connection to the server") }
        if let error = error as? HTTPClientError {
            if neverSent.contains(error) { return .unreachable("no connection to the server") }
            return .lost(error == .deadlineExceeded ? "no answer in time" : "the connection broke off (\(error))")
        }
        switch error {
        case is CancellationError: return .lost("given up")
        case is NIOTooManyBytesError, Gzip.Failure.tooLarge: return .lost("the answer is too long")
        case is Gzip.Failure: return .lost("the answer cannot be unpacked")
        case is HTTPParserError: return .lost("the answer is no HTTP")
        default: break
        }
        if provesNothing(error) {
            return .unreachable(
                "what answers does not prove to be the server; is there a login page, or is the clock far off?")
        }
        if let error = error as? IOError, [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode) {
            return .unreachable("no connection to the server")
        }
        return .lost("\(error)")
    }

    /// TLS was not begun: no certificate, one of somebody else, one that does not hold yet or any more.
    private static func provesNothing(_ error: any Error) -> Bool {
        if let error = error as? NIOSSLError, case .handshakeFailed = error { return true }
        return error as? NIOSSLExtraError == .failedToValidateHostname
    }
}
