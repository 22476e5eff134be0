package import CoreMetrics
package import Logging
package import NIOCore
import NIOPosix
package import Replication
import WireFormat

/// TLS connections to peers: listens, dials, frames messages, and keeps memory bounded.
///
/// All connections share one event loop. It moves bytes; each link has a task that takes its messages in order.
package final class PeerTransport: Sendable {
    let configuration: TransportConfiguration
    let handler: any TransportHandler
    let logger: Logger
    let eventLoop: any EventLoop
    /// Where the handler is called; nil for the process's pool.
    package let executor: (any TaskExecutor)?
    let registry: LinkRegistry
    private let listener: Listener

    /// Listens nowhere before `run()`; dialling works at once.
    ///
    /// - Parameters:
    ///   - security: decides who is let in.
    ///   - eventLoop: the one on which every connection lives.
    ///   - executor: where the handler is called; nil for the process's pool.
    ///   - enrolment: hears those who want to be let in.
    ///   - metrics: where the bytes of links are counted.
    package init(
        configuration: TransportConfiguration, security: any LinkSecurity, handler: any TransportHandler,
        logger: Logger,
        eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(),
        executor: (any TaskExecutor)? = nil, enrolment: (any EnrolmentHandler)? = nil,
        metrics: any MetricsFactory = NOOPMetricsHandler.instance
    ) {
        let registry = LinkRegistry(configuration: configuration, counters: LinkCounters(metrics))
        self.configuration = configuration
        self.handler = handler
        self.logger = logger
        self.eventLoop = eventLoop
        self.executor = executor
        self.registry = registry
        let reception = LinkReception(
            configuration: configuration, registry: registry, handler: handler, executor: executor, logger: logger,
            tls: LinkTLS(security), enrolment: enrolment)
        self.reception = reception
        let incoming = LinkAttempt(dialled: nil) { channel, reason in
            let remote = channel?.remoteAddress.map(RemoteName.init)?.text ?? "unknown"
            Task(executorPreference: executor) {
                await handler.connectionRefused(remote: remote, reason: "\(reason)")
            }
        }
        listener = Listener(configuration: configuration, eventLoop: eventLoop, logger: logger) { channel in
            reception.setUp(channel, incoming)
        }
    }

    let reception: LinkReception

    /// Listens until the task is cancelled, then closes every link and returns when all were reported as closed.
    /// Keeps trying when the address is not there yet or the port is taken. To be run once.
    ///
    /// - Parameter isOpen: says when to listen and when not to; nil for always.
    package func run(while isOpen: AsyncStream<Bool>? = nil) async {
        if let isOpen { await listener.run(while: isOpen) } else { await listener.run() }
        await registry.stop(reason: "this daemon is stopping")
    }

    /// The port that is listened on; nil while there is none.
    package var boundPort: Int? { listener.port }

    /// Does so much wait for a slow peer that nothing optional should be sent?
    ///
    /// `backlogChanged` says the same, but later: who sends much in one go asks here.
    package func isCongested(_ link: LinkID) -> Bool {
        registry[link]?.isCongested ?? false
    }

    /// Queues a message; never blocks. A link that is gone ignores it.
    package func send(_ message: Message, on link: LinkID) {
        guard let link = registry[link] else { return }
        do {
            link.send(try FrameEncoder.encode(message, isCompressing: link.isCompressing))
        } catch {
            // To go on without it would leave both sides waiting for each other.
            logger.error("a message cannot be sent", metadata: ["link": "\(link.id)", "reason": "\(error)"])
            link.close(reason: "a message could not be sent: \(error)")
        }
    }

    /// Hands over to the socket what was sent on a link so far, if the caller is on the event loop. What is sent goes out by
    /// itself, too, but after whatever the event loop is to do by now.
    package func flush(_ link: LinkID) {
        guard eventLoop.inEventLoop else { return }
        registry[link]?.flush()
    }

    /// The peer of a link has gone through the whole greeting: the link counts among those that stand.
    package func established(_ link: LinkID) {
        guard let refusal = registry.proved(link) else { return }
        close(link, reason: refusal.rawValue)
    }

    /// Closes a link once what was queued before is written, or after a second.
    /// `linkClosed` follows with this reason.
    package func close(_ link: LinkID, reason: String) {
        registry[link]?.close(reason: reason)
    }

    /// Ends a link at once: nobody is there to read what was queued. `linkClosed` follows with this reason.
    package func abandon(_ link: LinkID, reason: String) {
        registry[link]?.abort(reason: reason)
    }

    /// For how many milliseconds nothing has come of a link's peer: no bytes, and no acknowledgement of any (tcp(7), TCP_INFO);
    /// nil for a link that is gone.
    package func quietMilliseconds(of link: LinkID) async -> UInt64? {
        guard let socket = registry[link]?.channel as? any SocketOptionProvider,
            let info = try? await socket.getTCPInfo().get()
        else { return nil }
        return UInt64(min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv))
    }

    /// Closes every link, as `close` does.
    package func closeAll(reason: String) {
        for link in registry.all { link.close(reason: reason) }
    }

    /// What went over an open link so far; nil for one that is gone.
    package func traffic(of link: LinkID) -> LinkTraffic? {
        registry[link]?.traffic
    }
}
