import NIOHTTP1

/// What came of a request to the server.
package enum ServerReply<Value: Sendable>: Sendable {
    case answer(Value)
    /// The server was there and did not do it.
    case problem(ServerProblem)
    /// It wants to be left alone by everybody: 429, 503, or another failure with `Retry-After`.
    case busy(status: Int, retryAfterMilliseconds: UInt64?)
    /// It does not let this laptop in, and says why.
    case unauthorised(String)
    /// Nothing was sent, or what answered is not the server: a login page, a proxy's page.
    case unreachable(String)
    /// It may have arrived: there is no answer that makes sense.
    case lost(String)

    /// Reads an answer further; if the body throws, the answer is lost. Anything else stays as it is.
    package func map<Other>(_ body: (Value) throws -> Other) -> ServerReply<Other> {
        switch self {
        case .answer(let value):
            do { return .answer(try body(value)) } catch {
                return .lost("the answer cannot be read: \((error as? MalformedMessage)?.sentence ?? "\(error)")")
            }
        case .problem(let problem): return .problem(problem)
        case .busy(let status, let wait): return .busy(status: status, retryAfterMilliseconds: wait)
        case .unauthorised(let reason): return .unauthorised(reason)
        case .unreachable(let reason): return .unreachable(reason)
        case .lost(let reason): return .lost(reason)
        }
    }
}

/// A refusal with the server's words, if they could be read.
package struct ServerProblem: Error, Hashable, Sendable {
    /// The HTTP status of the answer, never from 200 to 299.
    package let status: Int
    /// Nil where the body was no problem document: a proxy's page, for one.
    package let problem: ChannelProblem?

    /// Without a `problem` there is no code, and the sentence tells the status.
    package init(status: Int, problem: ChannelProblem? = nil) {
        self.status = status
        self.problem = problem
    }

    /// Nil without the server's words; then only the status tells.
    package var code: ChannelProblem.Code? { problem?.code }
    /// For people: the server's words, else the status.
    package var sentence: String { problem?.detail ?? "the server answers with status \(status)" }
}

/// An answer's head and body before anybody has said what they are.
struct RawAnswer: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: [UInt8]

    /// When the server got the request and when it answered, in microseconds since 1970. Every answer of a Muster
    /// server says so, and nothing else on the way does.
    var times: (received: Int64, answered: Int64)? {
        guard let received = headers.first(name: ChannelHeader.received).flatMap({ Int64($0) }),
            let answered = headers.first(name: ChannelHeader.answered).flatMap({ Int64($0) })
        else { return nil }
        return (received, answered)
    }

    var retryAfterMilliseconds: UInt64? {
        let answered = times.map { $0.answered / 1_000_000 } ?? headers.first(name: "Date").flatMap(RetryAfter.seconds)
        return headers.first(name: "Retry-After").flatMap { RetryAfter.milliseconds($0, answered: answered) }
    }

    /// What it is. A failure that nobody knows is none that lasts: only a decision of the server is one.
    func reply(readingProblem: ([UInt8]) -> ChannelProblem?) -> ServerReply<[UInt8]> {
        guard times != nil else {
            // A proxy in front of the server speaks of its illness and its limits; whoever else answers is not the server.
            guard (500...504).contains(status) || status == 429 else {
                return .unreachable("what answers with status \(status) is not the server; is there a login page?")
            }
            return status == 429 || status == 503 || retryAfterMilliseconds != nil
                ? .busy(status: status, retryAfterMilliseconds: retryAfterMilliseconds)
                : .problem(ServerProblem(status: status))
        }
        switch status {
        case 200..<300: return .answer(body)
        case 401: return .unauthorised(readingProblem(body)?.detail ?? "it does not say why")
        case 429, 503: return .busy(status: status, retryAfterMilliseconds: retryAfterMilliseconds)
        default:
            if let wait = retryAfterMilliseconds { return .busy(status: status, retryAfterMilliseconds: wait) }
            return .problem(ServerProblem(status: status, problem: readingProblem(body)))
        }
    }
}
