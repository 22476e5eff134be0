import AsyncHTTPClient
import HTTPCoding
import NIOCore
import NIOHTTP1
import Timekeeping

/// Asks a server for the time: `GET /v1/time`, answered by when the request came and when the answer went out.
///
/// The answers of the server channel carry the same two numbers, as headers.
struct ServerTime: Sendable {
    enum Answer: Hashable, Sendable {
        case told(TimeExchange)
        case unreachable(String)
        /// Something answered that is no Muster server: a login page of a hotel, say.
        case wrong(String)
    }

    /// What an answer may be long, in bytes.
    static let answerBytes = 4_096
    private static let timeouts = ResponseTimeouts(silence: .seconds(10), whole: .seconds(10))

    let connections: ServerConnections
    /// Microseconds of a clock that never goes back.
    let elapsed: @Sendable () -> Int64

    func ask() async -> Answer {
        var request = HTTPClientRequest(url: connections.address.url("/v1/time"))
        request.headers.add(name: "Accept", value: "application/json")
        // An answer out of a proxy's memory would be old.
        request.headers.add(name: "Cache-Control", value: "no-store")
        do {
            let http = try connections.client()
            let sent = elapsed()
            let response = try await http.execute(request, timeout: Self.timeouts.untilAnswer(sending: 0))
            let returned = elapsed()
            guard response.status == .ok else { return .wrong("It answers with status \(response.status.code).") }
            guard let bytes = try? await Self.timeouts.collect(response.body, upTo: Self.answerBytes) else {
                return .wrong("Its answer is too long, or broken off.")
            }
            return Self.answer(Array(bytes.readableBytesView), sent: sent, returned: returned)
        } catch let error as NotTheServer {
            return .wrong(error.reason)
        } catch {
            return .unreachable("\(error)")
        }
    }

    /// What stands in an answer, in microseconds since 1970.
    private struct Times: Decodable {
        let received: Int64
        let answered: Int64
    }

    static func answer(_ bytes: [UInt8], sent: Int64, returned: Int64) -> Answer {
        guard let times = try? JSON.decode(Times.self, from: bytes) else {
            return .wrong("Its answer is not what a Muster server says; is there a login page in between?")
        }
        let exchange = TimeExchange(
            sent: sent, received: times.received, answered: times.answered, returned: returned)
        return exchange.isPlausible ? .told(exchange) : .wrong("It says times that cannot be.")
    }
}
