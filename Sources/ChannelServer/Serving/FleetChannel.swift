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
    private let refusals: RefusalLog
    private let contexts = Contexts()

    init(_ base: Base, identity: ServerIdentity, refusals: RefusalLog) {
        self.base = base
        self.identity = identity
        self.refusals = refusals
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            guard let credentials = identity.credentials else { throw NoFleet() }
            let remote = channel.remoteAddress?.ipAddress
            let shown = ShownCertificates { [refusals] in refusals.noteHandshake(from: remote, reason: $0) }
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
                if shown.isProved { return }
                shown.fail("it had not ended in time")
                channel.close(promise: nil)
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

    /// Of a handshake.
    private enum Stage { case going, done, failed }

    private let shown = Mutex<[[UInt8]]>([])
    private let stage = Mutex(Stage.going)
    private let onFailure: @Sendable (String) -> Void

    /// - Parameter onFailure: called once with the reason, if the handshake fails.
    init(onFailure: @escaping @Sendable (String) -> Void) {
        self.onFailure = onFailure
    }

    /// In DER, the caller's own first.
    var chain: [[UInt8]] { shown.withLock { $0 } }

    /// The handshake is over, and with it the proof of the key.
    var isProved: Bool { stage.withLock { $0 == .done } }

    func take(_ chain: [[UInt8]]) {
        shown.withLock { $0 = chain }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { stage.withLock { $0 = .done } }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Whoever only looks whether somebody listens here, as what watches over a server does, says nothing at all.
        if error as? NIOSSLError != .handshakeFailed(.sslError([.eofDuringHandshake])) { fail("\(error)") }
        context.fireErrorCaught(error)
    }

    /// Its reason counts if the handshake was not over before.
    func fail(_ reason: String) {
        let isNews = stage.withLock { stage in
            defer { if stage == .going { stage = .failed } }
            return stage == .going
        }
        if isNews { onFailure(reason) }
    }

    /// What the caller at the other end of a channel has shown.
    static func chain(on channel: any Channel) async -> [[UInt8]] {
        let found = channel.eventLoop.submit {
            (try? channel.pipeline.syncOperations.handler(type: ShownCertificates.self))?.chain ?? []
        }
        return (try? await found.get()) ?? []
    }
}
