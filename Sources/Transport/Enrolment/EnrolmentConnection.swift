import NIOCore
import Synchronization
package import WireFormat

/// One conversation between a laptop and one that may let it into the fleet, over TLS. The sides take turns.
///
/// Who the peer is, only its chain says; the connection itself decides nothing.
package final class EnrolmentConnection: Sendable {
    /// Whoever speaks out of turn this often is cut off.
    static let unreadMessages = 4

    /// The other end's address.
    package let remote: String
    /// In DER, as the peer sent it; that it has the key of the first one, TLS has proved.
    package let chain: [[UInt8]]
    private let channel: any Channel
    private let whenProved: @Sendable () -> Void
    private let messages: AsyncStream<EnrolmentMessage>
    private let inbound: AsyncStream<EnrolmentMessage>.Continuation

    init(_ channel: any Channel, remote: String, chain: [[UInt8]], whenProved: @escaping @Sendable () -> Void = {}) {
        self.channel = channel
        self.remote = remote
        self.chain = chain
        self.whenProved = whenProved
        (messages, inbound) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.unreadMessages))
    }

    /// The next message; nil when the connection has ended, also because the peer took too long. For one caller at a time.
    package func next(within limit: Duration) async -> EnrolmentMessage? {
        let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) { self.close() }
        defer { deadline.cancel() }
        return await messages.first { _ in true }
    }

    /// Sends a message. What cannot be sent ends the connection.
    package func send(_ message: EnrolmentMessage) {
        guard let frame = try? EnrolmentCodec.encode(message) else { return close() }
        channel.writeAndFlush(frame, promise: nil)
    }

    /// Sends the last message, and gives the peer the time to read it.
    package func end(with message: EnrolmentMessage) {
        send(message)
        channel.eventLoop.execute { [channel] in channel.close(mode: .output, promise: nil) }
        channel.eventLoop.scheduleTask(in: .seconds(1)) { self.close() }
    }

    /// Ends it at once.
    package func close() {
        channel.close(promise: nil)
    }

    /// The peer is worth more than a stranger: no newer connection takes the place of this one.
    package func prove() {
        whenProved()
    }

    /// Whether it has ended.
    package var isClosed: Bool { !channel.isActive }

    /// - Returns: whether there was room for it.
    func received(_ message: EnrolmentMessage) -> Bool {
        if case .enqueued = inbound.yield(message) { true } else { false }
    }

    func ended() {
        inbound.finish()
    }
}

/// Hears those who want to be let in, or to stay.
package protocol EnrolmentHandler: Sendable {
    /// A member of the fleet has connected to stay in it, or somebody whom `LinkSecurity.hears`. To be ended in any case.
    func applied(_ connection: EnrolmentConnection) async
}
