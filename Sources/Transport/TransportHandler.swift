package import CRDT
package import Replication

/// What a transport tells its owner.
///
/// The calls for one link come strictly one after another; calls for different links come at the same time.
package protocol TransportHandler: Sendable {
    /// A connection stands, its peer has proved that it is `device`, and nothing was said on it yet. Both sides now send
    /// their hello.
    ///
    /// `dialled` is the address as it was given to `dial`; nil for a connection that came in.
    func linkOpened(_ link: LinkID, with device: DeviceID, remote: String, dialled: PeerAddress?) async

    /// A message came. The first one of a link is always a hello, and no later one is.
    ///
    /// The link takes its next message only when this has returned: that is the back-pressure.
    func received(_ message: Message, on link: LinkID) async

    /// The bytes waiting for a slow peer have passed the high water mark, or have fallen below the low one again.
    func backlogChanged(_ link: LinkID, congested: Bool) async

    /// The connection is gone: exactly once per opened link, after the last `received`.
    func linkClosed(_ link: LinkID, reason: String) async

    /// There was no room for a connection that came in, or its peer was not let in; no link was opened.
    func connectionRefused(remote: String, reason: String) async

    /// A dial came to nothing; no link was opened.
    ///
    /// - Parameter reason: for people who know the system's words.
    func dialFailed(_ address: PeerAddress, _ failure: DialFailure, reason: String) async
}
