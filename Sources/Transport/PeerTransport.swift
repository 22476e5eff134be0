package import Logging
package import Replication

// STUB: signatures only, to code against; the bodies follow.

/// TCP connections to peers: listens, dials, frames messages, and keeps memory bounded.
package final class PeerTransport: Sendable {
    package init(configuration: TransportConfiguration, handler: any TransportHandler, logger: Logger) {}

    /// Listens until the task is cancelled, then closes every link and returns when all were reported as closed.
    /// Keeps trying when the address is not there yet or the port is taken.
    package func run() async throws {}

    /// The port that is listened on; nil while there is none.
    package var boundPort: Int? { nil }

    /// Starts to connect. Does nothing while a dial to the same host and port is under way.
    /// Ends in `linkOpened` with `dialled: true`, or in `dialFailed`.
    package func dial(host: String, port: Int) {}

    /// Queues a message; never blocks. A link that is gone ignores it.
    package func send(_ message: Message, on link: LinkID) {}

    /// Closes a link once what was queued before is written (or its peer takes too long over that).
    /// `linkClosed` follows with this reason.
    package func close(_ link: LinkID, reason: String) {}

    /// What went over an open link so far; nil for one that is gone.
    package func traffic(of link: LinkID) -> LinkTraffic? { nil }
}
