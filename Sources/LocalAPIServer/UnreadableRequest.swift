import HTTPCoding
import HummingbirdCore
import LocalAPI
import Logging
import NIOCore
import NIOHTTP1

/// A connection on which also what is no request, or one with a method that HTTP does not have, is answered with what is wrong; and on
/// which the last request is read to its end, whatever its answer: who writes it whole before reading would never come to that.
struct ExplainingChannel<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base

    init(_ base: Base) { self.base = base }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(UnreadableRequestHandler(), position: .after(decoder))
            return value
        }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

private final class UnreadableRequestHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Requests that have begun, without those that are answered.
    private var openRequests = 0
    /// No other request follows on this connection.
    private var isLast = false
    /// The end of the last one is read.
    private var isRead = false
    /// When the end of the last answer has left.
    private var lastAnswer: EventLoopFuture<Void>?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = Self.unwrapInboundIn(data)
        switch part {
        // Nothing is asked behind the last one.
        case _ where isRead: return
        case .head(var head):
            // Who waits for the word sends the body (RFC 9110 section 10.1.1). A refusal is no sooner than the body.
            if openRequests == 0, head.headers[canonicalForm: "Expect"].contains("100-continue") {
                let goOn = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(Self.wrapOutboundOut(.head(goOn)), promise: nil)
            }
            openRequests += 1
            isLast = !head.isKeepAlive
            // The server reads nothing more once it has answered such a request, and waits for its caller to go.
            head.headers.remove(name: "Connection")
            part = .head(head)
        case .body: break
        case .end:
            isRead = isLast
            closeAfterLast(context)
        }
        context.fireChannelRead(Self.wrapInboundOut(part))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(var head) where isLast && openRequests == 1:
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
        case .head, .body: context.write(data, promise: promise)
        case .end:
            openRequests -= 1
            let written = promise ?? context.eventLoop.makePromise()
            lastAnswer = written.futureResult
            context.write(data, promise: written)
            closeAfterLast(context)
        }
    }

    /// Whatever is still to be written goes before.
    private func closeAfterLast(_ context: ChannelHandlerContext) {
        guard isRead, openRequests == 0, let lastAnswer else { return }
        let channel = context.channel
        lastAnswer.whenComplete { _ in channel.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What comes in the midst of a request is told by whoever answers that.
        guard let fault = error as? HTTPParserError, openRequests == 0 else { return context.fireErrorCaught(error) }
        let problem = Problem(APIError(unreadable: fault))
        let body = (try? JSON.encode(problem)) ?? []
        let headers: HTTPHeaders = [
            "Content-Type": Problem.mediaType, "Content-Length": "\(body.count)", "Connection": "close",
        ]
        let status = HTTPResponseStatus(statusCode: problem.status)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        context.write(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }
}

extension APIError {
    /// The parser's own words are of its parts, not of the request's.
    init(unreadable fault: HTTPParserError) {
        switch fault {
        case .invalidMethod:
            self.init(
                .unknownMethod, "HTTP has no such method: OPTIONS of a path answers with those that it takes, in Allow."
            )
        case .invalidURL, .invalidPath, .invalidQueryString, .strictModeAssertion:
            self.init(.invalidRequest, "The path is not percent-encoded: encode names as RFC 3986 says.")
        case .headerOverflow: self.init(.invalidRequest, "The request's head is larger than 80 KiB: shorten it.")
        default: self.init(.invalidRequest, "This is no request of HTTP/1.1: send it as RFC 9112 says.")
        }
    }
}
