import NIOCore
import NIOPosix
import NIOTLS
package import FleetTLS
package import Replication

/// Connects to those who may let somebody in, also for one who is no laptop and has no links.
package struct EnrolmentDialler: Sendable {
    let configuration: TransportConfiguration
    let eventLoop: any EventLoop

    /// For one who listens nowhere: every connection lives on an event loop of the process.
    package init() {
        self.init(
            configuration: TransportConfiguration(host: "", port: 0),
            eventLoop: MultiThreadedEventLoopGroup.singleton.next())
    }

    init(configuration: TransportConfiguration, eventLoop: any EventLoop) {
        self.configuration = configuration
        self.eventLoop = eventLoop
    }

    /// Connects to somebody who may let this device in, or give it a new certificate.
    ///
    /// - Parameters:
    ///   - credentials: what this device shows, which may be a certificate that it has signed itself.
    ///   - accepts: decides on the peer by its chain in DER. Before that nothing but `credentials` is sent.
    /// - Throws: `LinkRefusal`, or what the network says.
    package func dial(
        _ address: PeerAddress, showing credentials: FleetCredentials,
        accepts: @escaping @Sendable (_ chain: [[UInt8]]) async -> Bool
    ) async throws -> EnrolmentConnection {
        let result = eventLoop.makePromise(of: EnrolmentConnection.self)
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(configuration.connectTimeout))
            .channelOption(.autoRead, value: false)
            .applyingPeerOptions(configuration)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let proof = try LinkTLS.secureEnrolment(channel, showing: credentials, accepts: accepts)
                    try channel.pipeline.syncOperations.addHandler(EnrolmentDialHandler(proof, result))
                }
            }
        bootstrap.connect(to: address).whenFailure { result.fail($0) }
        eventLoop.scheduleTask(in: TimeAmount(configuration.connectTimeout + configuration.handshakeTimeout)) {
            result.fail(LinkRefusal("It did not answer in time."))
        }
        return try await result.futureResult.get()
    }
}

extension PeerTransport {
    /// Connects to those who may let this laptop in, on the event loop of the links.
    package var enrolmentDialler: EnrolmentDialler {
        EnrolmentDialler(configuration: configuration, eventLoop: eventLoop)
    }
}

/// Waits for the end of the handshake and then makes way.
private final class EnrolmentDialHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let proof: PeerProof
    private let result: EventLoopPromise<EnrolmentConnection>

    init(_ proof: PeerProof, _ result: EventLoopPromise<EnrolmentConnection>) {
        self.proof = proof
        self.result = result
    }

    func channelActive(context: ChannelHandlerContext) {
        // Whoever gave up waiting has no use for the connection.
        result.futureResult.whenFailure { [channel = context.channel] _ in channel.close(promise: nil) }
        context.read()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted(let application) = event as? TLSUserEvent else { return }
        guard application == LinkTLS.enrolment else { return fail(context, LinkRefusal("It lets nobody in.")) }
        let remote = context.channel.remoteAddress.map(RemoteName.init)?.text ?? "unknown"
        let connection = EnrolmentConnection(context.channel, remote: remote, chain: proof.chain)
        do {
            try context.pipeline.syncOperations.addHandler(EnrolmentChannelHandler(connection))
            result.succeed(connection)
        } catch {
            fail(context, error)
        }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(context, proof.refusal ?? error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        result.fail(proof.refusal ?? LinkRefusal("It closed the connection."))
        context.fireChannelInactive()
    }

    private func fail(_ context: ChannelHandlerContext, _ error: any Error) {
        result.fail(error)
        context.close(promise: nil)
    }
}
