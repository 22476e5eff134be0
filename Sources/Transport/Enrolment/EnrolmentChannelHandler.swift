import NIOCore
import WireFormat

/// The event loop's end of an enrolment: makes messages of bytes, and tells the connection when there will be none.
final class EnrolmentChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: EnrolmentConnection
    private var buffer = ByteBuffer()

    init(_ connection: EnrolmentConnection) {
        self.connection = connection
    }

    func handlerAdded(context: ChannelHandlerContext) {
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        buffer.writeBuffer(&bytes)
        do {
            while let message = try EnrolmentCodec.decode(&buffer) {
                guard connection.received(message) else { return context.close(promise: nil) }
            }
        } catch {
            // Nothing that it says after this can be understood.
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.read()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        connection.ended()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        connection.ended()
    }
}
