import HummingbirdCore
import Logging
import NIOCore

/// A connection that may neither last nor bring much: whoever asks for figures is done at once.
struct BriefChannel<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base

    init(_ base: Base) {
        self.base = base
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ConnectionBounds())
            let timer = channel.eventLoop.scheduleTask(in: ConnectionBounds.longest) { channel.close(promise: nil) }
            channel.closeFuture.whenComplete { _ in timer.cancel() }
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

/// Ends a connection over which too much has come, whatever that was: a header without an end, or a body that nobody wants.
private final class ConnectionBounds: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// From the first byte to the last, also of a connection that is kept for the next request.
    static let longest = TimeAmount.seconds(10)
    /// What Prometheus says is a few hundred bytes.
    private static let mostBytes = 16 << 10

    private var bytes = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += Self.unwrapInboundIn(data).readableBytes
        guard bytes <= Self.mostBytes else { return context.close(promise: nil) }
        context.fireChannelRead(data)
    }
}
