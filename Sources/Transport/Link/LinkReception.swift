import CRDT
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
    let tls: LinkTLS
    /// Nil where nobody is let in.
    let enrolment: (any EnrolmentHandler)?

    /// The one place where a connection's handlers are put together.
    func setUp(_ channel: any Channel, _ attempt: LinkAttempt) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            do {
                let proof = try tls.secure(channel, isDialled: attempt.dialled != nil)
                try channel.pipeline.syncOperations.addHandler(
                    LinkChannelHandler(attempt, proof: proof, reception: self))
            } catch {
                // Whoever dials is told by the channel's own end.
                if attempt.dialled == nil { attempt.failed(channel, error) }
                throw error
            }
        }
    }

    /// A connection stands; its peer has still to show who it is.
    ///
    /// - Returns: nil when there is no room for it.
    func admit(_ channel: any Channel, _ attempt: LinkAttempt) -> Link? {
        switch registry.admit(channel, dialled: attempt.dialled) {
        case .success(let link): return link
        case .failure(let refusal):
            attempt.failed(channel, refusal)
            return nil
        }
    }

    /// The peer has shown who it is.
    func begin(_ link: Link, with device: DeviceID) {
        if let address = link.dialled { registry.endDial(address) }
        Task(executorPreference: executor) { await serve(link, with: device) }
    }

    /// A connection ended before its peer had shown who it is.
    func giveUp(_ link: Link, _ attempt: LinkAttempt) {
        registry.forget(link.id)
        attempt.failed(link.channel, LinkRefusal(link.endReason))
    }

    /// The peer of a connection wants to be let in, or to stay: it has a link only because there has to be room for it.
    ///
    /// - Returns: the conversation, and what begins it.
    func enrolment(on link: Link, with chain: [[UInt8]]) -> (EnrolmentConnection, serve: () -> Void)? {
        guard let enrolment else { return nil }
        link.takeAsGreeted()
        registry.spoke(link.id)
        let connection = EnrolmentConnection(link.channel, remote: link.remote, chain: chain) {
            if registry.proved(link.id) != nil { link.channel.close(promise: nil) }
        }
        return (
            connection,
            {
                Task(executorPreference: executor) {
                    await enrolment.applied(connection)
                }
            }
        )
    }

    /// It is over.
    func endEnrolment(on link: Link) {
        registry.forget(link.id)
    }

    /// Tells the handler everything about one link, in order.
    private func serve(_ link: Link, with device: DeviceID) async {
        await handler.linkOpened(link.id, with: device, remote: link.remote, dialled: link.dialled)
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

/// One attempt to have a connection, in either direction.
struct LinkAttempt: Sendable {
    /// Nil for one that came in.
    let dialled: PeerAddress?
    /// It came to nothing; with the channel, if there was one.
    let failed: @Sendable ((any Channel)?, any Error) -> Void
}
