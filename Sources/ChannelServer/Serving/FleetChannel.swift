import FleetTLS
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import NIOTLS
import Synchronization

/// A connection over TLS 1.3 on which both sides prove their keys, in front of what is spoken there.
///
/// Whether the caller may ask is not decided here: who may not is told so in a sentence.
struct FleetChannel<Base: ServerChildChannel>: ServerChildChannel {
    /// Of a handshake.
    private static var patience: TimeAmount { .seconds(10) }

    private let base: Base
    private let identity: ServerIdentity
    private let contexts = Contexts()

    init(_ base: Base, identity: ServerIdentity) {
        self.base = base
        self.identity = identity
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            guard let credentials = identity.credentials else { throw NoFleet() }
            let shown = ShownCertificates()
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(
                NIOSSLServerHandler(
                    context: contexts.context(for: credentials),
                    customVerificationCallback: { certificates, promise in
                        shown.take(certificates.chain)
                        promise.succeed(.certificateVerified)
                    }))
            try pipeline.addHandler(shown)
            // Whoever has not said by then who they are is not waited for.
            let timer = channel.eventLoop.scheduleTask(in: Self.patience) { () -> Void in
                if !shown.isProved { channel.close(promise: nil) }
            }
            channel.closeFuture.whenComplete { _ in timer.cancel() }
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }.flatMapErrorThrowing { error in
            // The server's library leaves it open.
            channel.close(promise: nil)
            throw error
        }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

/// Nobody can be sure of a server that has nothing to show, so it takes no connections.
private struct NoFleet: Error {}

/// Making one takes longer than a handshake.
private final class Contexts: Sendable {
    private let last = Mutex<(credentials: FleetCredentials, context: NIOSSLContext)?>(nil)

    func context(for credentials: FleetCredentials) throws -> NIOSSLContext {
        try last.withLock { last in
            if let last, last.credentials == credentials { return last.context }
            let fresh = try NIOSSLContext(configuration: credentials.server(speaking: ["http/1.1"]))
            last = (credentials, fresh)
            return fresh
        }
    }
}

/// Stays in a connection's pipeline and knows what the caller has shown there.
///
/// Of a session that was resumed it knows nothing, and so nobody gets in with one.
final class ShownCertificates: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let shown = Mutex<[[UInt8]]>([])
    private let hasEnded = Mutex(false)

    /// In DER, the caller's own first.
    var chain: [[UInt8]] { shown.withLock { $0 } }

    /// The handshake is over, and with it the proof of the key.
    var isProved: Bool { hasEnded.withLock { $0 } }

    func take(_ chain: [[UInt8]]) {
        shown.withLock { $0 = chain }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { hasEnded.withLock { $0 = true } }
        context.fireUserInboundEventTriggered(event)
    }

    /// What the caller at the other end of a channel has shown.
    static func chain(on channel: any Channel) async -> [[UInt8]] {
        let found = channel.eventLoop.submit {
            (try? channel.pipeline.syncOperations.handler(type: ShownCertificates.self))?.chain ?? []
        }
        return (try? await found.get()) ?? []
    }
}
