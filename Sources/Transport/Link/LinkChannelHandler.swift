import NIOCore

/// The event loop's end of a link: asks the registry for one, and passes bytes and their end on to it.
final class LinkChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let admit: @Sendable (any Channel) -> Link?
    private let handshakeTimeout: TimeAmount
    private var link: Link?

    init(handshakeTimeout: TimeAmount, admit: @escaping @Sendable (any Channel) -> Link?) {
        self.handshakeTimeout = handshakeTimeout
        self.admit = admit
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let link = admit(context.channel) else {
            context.close(promise: nil)
            return
        }
        self.link = link
        context.eventLoop.scheduleTask(in: handshakeTimeout) { [weak link] in
            guard let link, link.isSilent else { return }
            link.abort(reason: "no hello came in time")
        }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        link?.bytesArrived(Self.unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if link?.readCompleted() == true { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        link?.connectionEnded(reason: "the connection broke: \(error)")
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        link?.connectionEnded(reason: "the peer closed the connection")
    }
}
