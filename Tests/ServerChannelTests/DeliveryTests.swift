import CRDT
import NIOCore
import NIOHTTP1
import Outbox
import Testing

@testable import ServerChannel

/// What a server may answer to a list of requests.
@Suite("Answers to a list of requests", .timeLimit(.minutes(1)))
struct DeliveryTests {
    /// Accepts what the test says, whatever it was asked.
    private final class Deciding: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        let answer: [UInt8]

        init(_ answer: [UInt8]) {
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            var headers = timeHeaders
            headers.add(name: "Content-Length", value: "\(answer.count)")
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    /// What the client makes of an answer that decides `tokens`, when 7 and 8 were delivered.
    private func reply(deciding tokens: [UInt128]) async throws -> ServerReply<MutationDecisions> {
        let deliveries = try [7, 8].map { (token: UInt128) in
            let request = MutationRequest(
                token: MutationToken(token), lane: "state", after: nil, priority: 0, kind: "openJob",
                payload: Array("{}".utf8))
            return Delivery(request: request, job: try #require(JobID("job-1")), knownChannel: 0)
        }
        let outcomes = tokens.map { Outcome(token: MutationToken($0), verdict: .accepted) }
        let answer = try MutationDecisions(outcomes: outcomes, channels: []).protobuf()
        var reply = ServerReply<MutationDecisions>.lost("nobody was asked")
        try await withServer({ Deciding(answer) }) { reply = await $0.deliver(deliveries) }
        return reply
    }

    @Test("All of them may be decided, or the first", arguments: [[7], [7, 8]] as [[UInt128]])
    func first(tokens: [UInt128]) async throws {
        guard case .answer(let decisions) = try await reply(deciding: tokens) else {
            Issue.record("not taken")
            return
        }
        #expect(decisions.outcomes.map(\.token.value) == tokens)
    }

    @Test(
        "An answer that decides none, others, or more than were asked for is as good as none",
        arguments: [[], [8], [8, 7], [7, 9], [7, 7], [7, 8, 8], [7, 8, 9]] as [[UInt128]])
    func others(tokens: [UInt128]) async throws {
        let reply = try await reply(deciding: tokens)
        guard case .lost(let reason) = reply, case .answerLost = reply.forOutbox else {
            Issue.record("\(reply)")
            return
        }
        #expect(reason.contains("It decides other requests."))
    }
}
