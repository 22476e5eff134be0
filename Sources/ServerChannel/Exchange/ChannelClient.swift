import AsyncHTTPClient
import FleetTLS
import FoundationEssentials
import HTTPCoding
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

    private let connections: ServerConnections
    let security: (any ServerSecurity)?
    private let timeouts: ResponseTimeouts
    private let elapsed: @Sendable () -> Int64
    private let hear: @Sendable (TimeExchange) async -> Void
    let compared = Mutex(RevocationComparison())

    /// - Parameters:
    ///   - security: as that of the connections.
    ///   - elapsed: microseconds of a clock that never goes back.
    ///   - hear: gets what every answer says of the time, before the answer itself is handed on.
    package convenience init(
        _ connections: ServerConnections, security: any ServerSecurity, elapsed: @escaping @Sendable () -> Int64,
        hearing hear: @escaping @Sendable (TimeExchange) async -> Void
    ) {
        self.init(connections, security: security, timeouts: ResponseTimeouts(), elapsed: elapsed, hearing: hear)
    }

    init(
        _ connections: ServerConnections, security: (any ServerSecurity)?, timeouts: ResponseTimeouts,
        elapsed: @escaping @Sendable () -> Int64, hearing hear: @escaping @Sendable (TimeExchange) async -> Void
    ) {
        self.connections = connections
        self.security = security
        self.timeouts = timeouts
        self.elapsed = elapsed
        self.hear = hear
    }

    /// From now on requests go through new connections.
    ///
    /// - Parameter endingWhatIsUnderWay: requests without an answer are lost at once, not when their time is over.
    package func connectAnew(endingWhatIsUnderWay: Bool) {
        connections.connectAnew(patience: endingWhatIsUnderWay ? nil : timeouts.silence + timeouts.whole)
    }

    /// Ends all connections for good: requests under way and later ones are lost.
    package func close() async { await connections.close() }

    /// One request.
    struct Ask: Sendable {
        var method = HTTPMethod.GET
        /// With the query.
        var path: String
        var body: [UInt8]?
        /// The media type of the body.
        var type = ChannelHeader.protobuf
        /// It is about revocations itself.
        var isComparison = false
    }

    func execute(_ ask: Ask) async -> ServerReply<[UInt8]> {
        let request = request(for: ask)
        do {
            let http = try connections.client()
            let sent = elapsed()
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
            if !ask.isComparison, let theirs = response.headers.first(name: ChannelHeader.revocations) {
                await compareRevocations(with: theirs)
            }
            return answer.reply { try? JSON.decode(ChannelProblem.self, from: $0) }
        } catch {
            return Self.failure(error)
        }
    }

    private func request(for ask: Ask) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: connections.address.url(ask.path))
        request.method = ask.method
        request.headers.add(name: "Accept", value: ChannelHeader.protobuf)
        request.headers.add(name: "Accept-Encoding", value: "gzip")
        if let shown = security?.credentials?.certificates {
            let rest = shown.dropFirst().map { Data($0).base64EncodedString() }
            request.headers.add(name: ChannelHeader.issuer, value: rest.joined(separator: ","))
        }
        if let body = ask.body {
            request.headers.add(name: "Content-Type", value: ask.type)
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
            .alreadyShutdown,
        ]
        if let error = error as? NotTheServer {
            return .unreachable("what answers is not the fleet's server: \(error.reason)")
        }
        if let error = error as? ServerConnections.NoFleet { return .unreachable(error.description) }
        if error is ConnectionEnded { return .unreachable("no connection to the server") }
        if let error = error as? NIOConnectionError {
            return .unreachable(Self.reason(error.connectionErrors.last?.error))
        }
        if let error = error as? HTTPClientError {
            if neverSent.contains(error) { return .unreachable(Self.reason(error)) }
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
                "what answers does not prove to be the fleet's server; is there a login page? (TLS)")
        }
        if let error = error as? IOError, [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode) {
            return .unreachable(Self.reason(error))
        }
        return .lost(error is IOError ? "the connection broke off" : "\(error)")
    }

    /// Why there is no connection, with a word behind it that whoever helps knows.
    ///
    /// - Parameter error: of the last address that was tried; nil where there was none.
    private static func reason(_ error: (any Error)?) -> String {
        switch error {
        case nil: return "its name leads nowhere (DNS)"
        case let error as IOError:
            switch error.errnoCode {
            case ECONNREFUSED: return "nothing takes connections at its port (refused)"
            case EHOSTUNREACH, ENETUNREACH: return "there is no way to it (no route)"
            case ETIMEDOUT: return "it does not answer (timeout)"
            default: break
            }
        case ChannelError.connectTimeout?: return "it does not answer (timeout)"
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout, .getConnectionFromPoolTimeout: return "it does not answer (timeout)"
            case .tlsHandshakeTimeout: return "it takes a connection and says nothing (TLS)"
            default: break
            }
        default: break
        }
        return "no connection to the server"
    }

    /// TLS was not begun.
    private static func provesNothing(_ error: any Error) -> Bool {
        if let error = error as? NIOSSLError, case .handshakeFailed = error { return true }
        return false
    }
}
