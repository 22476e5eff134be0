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
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

/// Ends a connection that lasts too long, or over which too much has come, whatever that was: a header without an end, or a body
/// that nobody wants.
private final class ConnectionBounds: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Until the head of a request is whole: few are taken at a time, and who says nothing keeps the others waiting.
    private static let longestHead = TimeAmount.seconds(2)
    /// From the first byte to the last, also of a connection that is kept for the next request.
    private static let longest = TimeAmount.seconds(10)
    /// What Prometheus says is a few hundred bytes.
    private static let mostBytes = 16 << 10

    private var bytes = 0
    /// Ends of lines without anything between them; the second one ends the head (RFC 9112 section 2.1).
    private var lineEnds = 0
    private var timers: [Scheduled<Void>] = []

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timers = [Self.longest, Self.longestHead].map { time in
            context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for timer in timers { timer.cancel() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = Self.unwrapInboundIn(data)
        bytes += buffer.readableBytes
        guard bytes <= Self.mostBytes else { return context.close(promise: nil) }
        if timers.count > 1, endsHead(buffer) { timers.removeLast().cancel() }
        context.fireChannelRead(data)
    }

    private func endsHead(_ buffer: ByteBuffer) -> Bool {
        for byte in buffer.readableBytesView where byte != UInt8(ascii: "\r") {
            lineEnds = byte == UInt8(ascii: "\n") ? lineEnds + 1 : 0
            if lineEnds == 2 { return true }
        }
        return false
    }
}
