import Logging
import NIOCore
import Replication

/// Receives new connections: puts their handlers together, admits them, and serves each link to its end.
struct LinkReception: Sendable {
    let configuration: TransportConfiguration
    let registry: LinkRegistry
    let handler: any TransportHandler
    let executor: (any TaskExecutor)?
    let logger: Logger

    /// The one place where a connection's handlers are put together. Encryption goes before the last of them.
    func setUp(
        _ channel: any Channel, dialled: PeerAddress?, onRefusal: (@Sendable (any Error) -> Void)?
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let link = LinkChannelHandler(handshakeTimeout: TimeAmount(configuration.handshakeTimeout)) { channel in
                admit(channel, dialled: dialled, onRefusal: onRefusal)
            }
            try channel.pipeline.syncOperations.addHandler(link)
        }
    }

    private func admit(
        _ channel: any Channel, dialled: PeerAddress?, onRefusal: (@Sendable (any Error) -> Void)?
    ) -> Link? {
        switch registry.admit(channel, dialled: dialled) {
        case .success(let link):
            Task(executorPreference: executor) { await serve(link) }
            return link
        case .failure(let refusal):
            if let onRefusal {
                onRefusal(refusal)
            } else {
                let remote = channel.remoteAddress.map(RemoteName.init)?.text ?? "unknown"
                Task(executorPreference: executor) {
                    await handler.connectionRefused(remote: remote, reason: refusal.rawValue)
                }
            }
            return nil
        }
    }

    /// Tells the handler everything about one link, in order.
    private func serve(_ link: Link) async {
        await handler.linkOpened(link.id, remote: link.remote, dialled: link.dialled)
        var isGreeted = false
        while let event = await link.next() {
            switch event {
            case .message(let message):
                if !isGreeted { registry.spoke(link.id) }
                isGreeted = true
                await handler.received(message, on: link.id)
            case .backlog(let congested):
                await handler.backlogChanged(link.id, congested: congested)
            }
        }
        try? await link.channel.closeFuture.get()
        let reason = link.endReason
        // The handler knows whether it was worth more.
        logger.debug(
            "link closed",
            metadata: ["link": "\(link.id)", "remote": "\(link.remote)", "reason": "\(reason)"])
        await handler.linkClosed(link.id, reason: reason)
        registry.forget(link.id)
    }
}
