import Logging
import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Accepts connections at one address, for as long as it takes until that address can be listened on.
final class Listener: Sendable {
    private let configuration: TransportConfiguration
    private let eventLoop: any EventLoop
    private let logger: Logger
    private let setUp: @Sendable (any Channel) -> EventLoopFuture<Void>
    private let channel = Mutex<(any Channel)?>(nil)

    init(
        configuration: TransportConfiguration, eventLoop: any EventLoop, logger: Logger,
        setUp: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.logger = logger
        self.setUp = setUp
    }

    var port: Int? { channel.withLock { $0?.localAddress?.port } }

    /// Listens while it is told to; returns when the task is cancelled, or nobody tells it any more.
    func run(while isOpen: AsyncStream<Bool>) async {
        for await opens in isOpen where opens {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.run() }
                for await stays in isOpen where !stays { break }
                group.cancelAll()
            }
        }
    }

    /// Returns when the task is cancelled.
    func run() async {
        var delay = configuration.firstBindRetryDelay
        var lastReason = ""
        while !Task.isCancelled {
            do {
                let channel = try await bind()
                delay = configuration.firstBindRetryDelay
                lastReason = ""
                await untilClosed(channel)
            } catch {
                let reason = DialReason.sentence(error)
                log(reason, isNews: reason != lastReason, delay: delay)
                lastReason = reason
                try? await Task.sleep(for: delay)
                delay = min(delay * 2, configuration.longestBindRetryDelay)
            }
        }
    }

    private func bind() async throws -> any Channel {
        guard configuration.host == TransportConfiguration.everyHost else {
            return try await bootstrap.bind(host: configuration.host, port: configuration.port).get()
        }
        do {
            // One socket takes both (RFC 3493, section 3.7), where the machine has IPv6 at all.
            return try await bootstrap.bind(to: SocketAddress(ipAddress: "::", port: configuration.port)).get()
        } catch let error as IOError where error.errnoCode == EAFNOSUPPORT || error.errnoCode == EADDRNOTAVAIL {
            return try await bootstrap.bind(to: SocketAddress(ipAddress: "0.0.0.0", port: configuration.port)).get()
        }
    }

    private var bootstrap: ServerBootstrap {
        ServerBootstrap(group: eventLoop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 64)
            .childChannelInitializer(setUp)
            .childChannelOption(.autoRead, value: false)
            .applyingPeerOptions(configuration)
    }

    private func untilClosed(_ channel: any Channel) async {
        self.channel.withLock { $0 = channel }
        logger.info("listening", metadata: ["address": "\(channel.localAddress.map { RemoteName($0).text } ?? "?")"])
        await withTaskCancellationHandler {
            try? await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
        self.channel.withLock { $0 = nil }
    }

    /// One line for each new reason, not for each attempt.
    private func log(_ reason: String, isNews: Bool, delay: Duration) {
        logger.log(
            level: isNews ? .warning : .debug, "cannot listen yet; trying again",
            metadata: [
                "address": "\(RemoteName.text(host: configuration.host, port: configuration.port))",
                "reason": "\(reason)", "delay": "\(delay)",
            ])
    }
}
