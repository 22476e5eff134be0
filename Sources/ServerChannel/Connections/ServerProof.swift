import FleetTLS
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// It has ended before anything could be said on it.
struct ConnectionEnded: Error {}

/// Looks whether a connection leads to the fleet's server, before anything is said on it.
///
/// The HTTP client shows of its connections the certificate whose key was proved, and not its issuer's. That is asked for on a
/// connection of its own, once: whoever answers there says who has signed for them, and that is judged like all else.
final class ServerProof: Sendable {
    private static let patience = TimeAmount.seconds(10)

    private let address: ServerAddress
    private let credentials: FleetCredentials
    private let security: any ServerSecurity
    /// The last one that was right.
    private let issuer = Mutex<[UInt8]?>(nil)

    init(of address: ServerAddress, showing credentials: FleetCredentials, _ security: any ServerSecurity) {
        self.address = address
        self.credentials = credentials
        self.security = security
    }

    /// Fails, and closes the connection, unless it is the server.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        promise.completeWithTask {
            do {
                guard let own = try await channel.nioSSL_peerCertificate().get()?.toDERBytes() else {
                    throw NotTheServer("It shows no certificate.")
                }
                try await self.judge(own)
            } catch {
                try? await channel.close()
                throw error
            }
        }
        return promise.futureResult.flatMapThrowing {
            // The HTTP client does not look again: a connection that has ended meanwhile would never be given back.
            guard channel.isActive else { throw ConnectionEnded() }
        }
    }

    private func judge(_ own: [UInt8]) async throws {
        if let known = issuer.withLock({ $0 }), (try? await security.admitServer([own, known])) != nil { return }
        let chain = [own] + (try await shownChain().dropFirst())
        try await security.admitServer(chain)
        // The root may stand behind it.
        issuer.withLock { $0 = chain[1] }
    }

    /// What the server shows to who connects. Nothing is said to it.
    private func shownChain() async throws -> [[UInt8]] {
        let context = try NIOSSLContext(configuration: credentials.client(speaking: ["http/1.1"]))
        let (shown, name) = (Shown(), address.name)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(5))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(context: context, serverHostname: name) {
                        certificates, promise in
                        shown.take(certificates.chain)
                        // That was all.
                        promise.succeed(NIOSSLVerificationResult.failed)
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connect(host: address.host, port: address.port).get()
        let timer = channel.eventLoop.scheduleTask(in: Self.patience) { () -> Void in channel.close(promise: nil) }
        try? await channel.closeFuture.get()
        timer.cancel()
        // Without a word: that is no impostor, but a line that broke.
        guard !shown.chain.isEmpty else { throw ConnectionEnded() }
        return shown.chain
    }
}

private final class Shown: Sendable {
    private let certificates = Mutex<[[UInt8]]>([])

    var chain: [[UInt8]] { certificates.withLock { $0 } }

    func take(_ chain: [[UInt8]]) {
        certificates.withLock { $0 = chain }
    }
}
