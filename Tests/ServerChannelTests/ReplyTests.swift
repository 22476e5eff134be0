import CRDT
import NIOHTTP1
import Outbox
import Testing

@testable import ServerChannel

@Suite("What an answer to a delivery means")
struct ReplyTests {
    private static let times = [("Muster-Received", "1780000000000100"), ("Muster-Answered", "1780000000000900")]

    private static func reply(
        _ status: Int, _ headers: [(String, String)] = times, _ body: [UInt8] = [], problem: ChannelProblem? = nil
    ) -> OutboxMachine.Reply {
        RawAnswer(status: status, headers: HTTPHeaders(headers), body: body).reply { _ in problem }
            .map(MutationDecisions.init(protobuf:)).forOutbox
    }

    private static let outcomes = Outcome.Verdict.allCases.map {
        Outcome(token: MutationToken(7), verdict: $0, reason: "why")
    }

    @Test("The server's own decision is for good, and nothing else is")
    func decisions() throws {
        let decided = try MutationDecisions(outcomes: Self.outcomes, channels: []).protobuf()
        #expect(Self.reply(200, Self.times, decided) == .decided(Self.outcomes))
        for status in [400, 403, 404, 409, 410, 418, 422, 451, 499, 500, 502] {
            guard case .tryAgain(status, _) = Self.reply(status) else {
                Issue.record("\(status) is \(Self.reply(status))")
                continue
            }
        }
        var missing = ChannelProblem(.predecessorMissing, "first the other")
        missing.token = MutationToken(9).description
        #expect(Self.reply(409, problem: missing) == .predecessorMissing(MutationToken(9)))
    }

    @Test("401 is about this device, 429 and 503 and a wish for rest about everybody")
    func everybody() {
        #expect(Self.reply(401) == .unauthorised)
        #expect(Self.reply(503) == .serverBusy(status: 503, retryAfterMilliseconds: nil))
        let wish = Self.times + [("Retry-After", "7")]
        #expect(Self.reply(429, wish) == .serverBusy(status: 429, retryAfterMilliseconds: 7_000))
        #expect(Self.reply(500, wish) == .serverBusy(status: 500, retryAfterMilliseconds: 7_000))
    }

    @Test("A date in Retry-After counts from the server's own time; what is no date says nothing")
    func date() {
        func busy(_ headers: [(String, String)]) -> OutboxMachine.Reply { Self.reply(503, headers) }
        let proxy = [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sun, 06 Nov 1994 08:50:07 GMT")]
        #expect(busy(proxy) == .serverBusy(status: 503, retryAfterMilliseconds: 30_000))
        let past = [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sun, 06 Nov 1994 08:00:00 GMT")]
        #expect(busy(past) == .serverBusy(status: 503, retryAfterMilliseconds: 0))
        for text in ["soon", "-1", "Sun, 06 Nov 1994 08:50:07 GMT, or later"] {
            #expect(busy([proxy[0], ("Retry-After", text)]) == .serverBusy(status: 503, retryAfterMilliseconds: nil))
        }
        #expect(busy([proxy[1]]) == .serverBusy(status: 503, retryAfterMilliseconds: nil))
    }

    @Test("Who does not say when it answered is not the server", arguments: [200, 204, 302, 401, 403, 404, 407, 511])
    func somebodyElse(status: Int) {
        guard case .unreachable = Self.reply(status, [("Content-Type", "text/html")]) else {
            Issue.record("\(status) is taken for the server")
            return
        }
    }

    @Test("A proxy in front of the server speaks of its illness, and of its limits")
    func proxy() {
        #expect(Self.reply(503, [("Retry-After", "5")]) == .serverBusy(status: 503, retryAfterMilliseconds: 5_000))
        #expect(Self.reply(429, [("Retry-After", "5")]) == .serverBusy(status: 429, retryAfterMilliseconds: 5_000))
        guard case .tryAgain(502, _) = Self.reply(502, []) else {
            Issue.record("502 is \(Self.reply(502, []))")
            return
        }
    }

    // Of an older server, which decided one request at a time: its token, the verdict, the reason, and the channel.
    @Test("An answer of the older form is as good as none", arguments: [0, 7, 0x0A0A, UInt128.max, 0x0801 << 112])
    func olderForm(token: UInt128) {
        let bytes = withUnsafeBytes(of: token.bigEndian) { Array($0) }
        let answer = [0x0A, 16] + bytes + [0x10, 1, 0x1A, 3] + Array("why".utf8) + [0x22, 2, 0x10, 12]
        guard case .answerLost = Self.reply(200, Self.times, answer) else {
            Issue.record("it is \(Self.reply(200, Self.times, answer))")
            return
        }
    }

    @Test("An answer that cannot be read is as good as none")
    func unreadable() {
        guard case .answerLost = Self.reply(200, Self.times, [0xFF, 0xFF]) else {
            Issue.record("it is \(Self.reply(200, Self.times, [0xFF, 0xFF]))")
            return
        }
    }
}
