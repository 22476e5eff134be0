package import Replication
import Transport

/// The connections with peers, as the replicator uses them; who carries them calls it back as a `TransportHandler`.
package protocol PeerLinks: Sendable {
    /// Begins to connect; `linkOpened` or `dialFailed` follows.
    func dial(_ address: PeerAddress)

    /// Queues a message; never blocks. A link that is gone ignores it.
    func send(_ message: Message, on link: LinkID)

    /// Hands over what was sent so far; else that is done a little later, for all that was sent meanwhile.
    func flush(_ link: LinkID)

    /// The peer of a link has gone through the whole greeting.
    func established(_ link: LinkID)

    /// Closes a link once what was queued before is written; `linkClosed` follows with this reason.
    func close(_ link: LinkID, reason: String)

    /// The same at once: nobody is there to read what is queued.
    func abandon(_ link: LinkID, reason: String)

    /// For how long there was no sign of the peer's machine, not even that it has got some bytes; nil where nobody can tell.
    func quietMilliseconds(of link: LinkID) async -> UInt64?
}

extension PeerLinks {
    package func flush(_ link: LinkID) {}
    package func abandon(_ link: LinkID, reason: String) { close(link, reason: reason) }
    package func quietMilliseconds(of link: LinkID) async -> UInt64? { nil }
}

extension PeerTransport: PeerLinks {}
