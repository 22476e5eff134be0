import Identity
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Replication
import Simulation
import WireFormat

/// A peer that says whatever bytes a test likes, and reads only when told to.
struct RawPeer {
    let channel: any Channel

    /// - Parameters:
    ///   - receiveBuffer: with one it reads nothing once the handshake is over.
    ///   - tls: nil for a member of the crew.
    static func connect(
        port: Int, receiveBuffer: Int? = nil, tls: TLSConfiguration? = nil
    ) async throws -> RawPeer {
        let context = try NIOSSLContext(configuration: tls ?? .member())
        return try await connect(port: port, receiveBuffer: receiveBuffer) { channel in
            // Whom it talks to is not its concern.
            try channel.pipeline.syncOperations.addHandler(
                NIOSSLClientHandler(context: context, serverHostname: nil) { _, promise in
                    promise.succeed(.certificateVerified)
                })
            if receiveBuffer != nil { try channel.pipeline.syncOperations.addHandler(ReadingStop()) }
        }
    }

    /// A peer that encrypts nothing.
    static func connectInTheClear(port: Int) async throws -> RawPeer {
        try await connect(port: port, receiveBuffer: nil) { _ in }
    }

    private static func connect(
        port: Int, receiveBuffer: Int?, setUp: @escaping @Sendable (any Channel) throws -> Void
    ) async throws -> RawPeer {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in channel.eventLoop.makeCompletedFuture { try setUp(channel) } }
        let sized = receiveBuffer.map { bootstrap.channelOption(.socketOption(.so_rcvbuf), value: $0) } ?? bootstrap
        return RawPeer(channel: try await sized.connect(host: "127.0.0.1", port: port).get())
    }

    func say(_ bytes: ByteBuffer) { channel.writeAndFlush(bytes, promise: nil) }

    func say(_ message: Message) throws { say(try FrameEncoder.encode(message)) }

    /// Returns when the other side has closed.
    func untilClosed() async throws { try await channel.closeFuture.get() }

    func close() async { try? await channel.close() }
}

/// Reads nothing more after the handshake.
private final class ReadingStop: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            context.channel.setOption(.autoRead, value: false).whenComplete { _ in }
        }
        context.fireUserInboundEventTriggered(event)
    }
}

extension TLSConfiguration {
    /// What a member of the crew says.
    static func member(of fleet: TestFleet = CrewMember.fleet) throws -> TLSConfiguration {
        let key = DeviceKey()
        return try showing(fleet.chain(key), key)
    }

    /// What somebody says who has a key and these certificates.
    static func showing(_ chain: [[UInt8]], _ key: DeviceKey) throws -> TLSConfiguration {
        var configuration = unknown()
        configuration.certificateChain = try chain.map {
            .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
        }
        configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pem.utf8), format: .pem))
        return configuration
    }

    /// What somebody says who has nothing to show.
    static func unknown() -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .noHostnameVerification
        configuration.signingSignatureAlgorithms = [.ed25519]
        configuration.verifySignatureAlgorithms = [.ed25519]
        configuration.applicationProtocols = ["muster/1"]
        return configuration
    }
}
