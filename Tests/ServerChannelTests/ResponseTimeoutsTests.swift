import NIOCore
import NIOHTTP1
import Testing

@testable import ServerChannel

/// A server that answers and does not finish.
@Suite("Waiting for a server", .timeLimit(.minutes(1)))
struct ResponseTimeoutsTests {
    /// Sends the head of an answer of 1,000 bytes, and then a byte whenever `interval` has gone by; nil: one only.
    private final class Unfinished: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        let interval: TimeAmount?

        init(_ interval: TimeAmount?) {
            self.interval = interval
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            var headers = timeHeaders
            headers.add(name: "Content-Length", value: "1000")
            context.write(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers))), promise: nil
            )
            say(context)
        }

        private func say(_ context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: [0x0A])))), promise: nil)
            guard let interval else { return }
            context.eventLoop.assumeIsolated().scheduleTask(in: interval) { self.say(context) }
        }
    }

    @Test(
        "An answer that breaks off, or comes byte by byte without end, is given up",
        arguments: [nil, TimeAmount.milliseconds(50)])
    func unfinished(interval: TimeAmount?) async throws {
        let timeouts = ResponseTimeouts(silence: .milliseconds(300), whole: .seconds(1))
        try await withServer({ Unfinished(interval) }, timeouts: timeouts) { client in
            let begin = ContinuousClock.now
            guard case .lost(let reason) = await client.jobs(since: nil) else {
                Issue.record("taken")
                return
            }
            #expect(reason == "the answer broke off")
            #expect(begin.duration(to: .now) < .seconds(5))
        }
    }

    @Test("A long request has the time that a slow line needs")
    func slowLine() {
        #expect(ResponseTimeouts().untilAnswer(sending: 0) == .seconds(30))
        #expect(ResponseTimeouts().untilAnswer(sending: 896 << 10) == .seconds(30 + 224))
    }
}
