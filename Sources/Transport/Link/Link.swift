import CoreMetrics
import Metering
import NIOCore
import Replication
import Synchronization
import WireFormat

/// One connection: bytes come in on its event loop and are taken, a message at a time, by its one reader.
final class Link: Sendable {
    enum Event {
        case message(Message)
        case backlog(congested: Bool)
    }

    struct State {
        var inbound = InboundBytes()
        var outbound: OutboundBacklog
        var isFlushScheduled = false
        /// The congestion that the reader knows of.
        var reportedCongestion = false
        /// Nothing was asked from the socket because enough is waiting already.
        var isReadingPaused = false
        var end: LinkEnd?
        var hasGreeted = false
        /// The reader, when it sleeps; and whether something happened while it did not.
        var reader: CheckedContinuation<Void, Never>?
        var isReaderNeeded = false
    }

    let id: LinkID
    let remote: String
    let dialled: PeerAddress?
    let channel: any Channel
    /// Whether runs of journals go compressed. Within a machine nothing is under way for long, and both ends share its
    /// processors.
    let isCompressing: Bool
    let state: Mutex<State>
    let counters: LinkCounters

    init(
        id: LinkID, channel: any Channel, dialled: PeerAddress?, configuration: TransportConfiguration,
        counters: LinkCounters
    ) {
        self.counters = counters
        self.id = id
        self.channel = channel
        self.dialled = dialled
        remote = channel.remoteAddress.map(RemoteName.init)?.text ?? "unknown"
        let (here, there) = (channel.localAddress?.ipAddress, channel.remoteAddress?.ipAddress)
        isCompressing = here == nil || here != there
        state = Mutex(State(outbound: OutboundBacklog(configuration)))
    }

    var traffic: LinkTraffic {
        state.withLock {
            LinkTraffic(bytesReceived: $0.inbound.totalBytes, bytesSent: $0.outbound.totalWrittenBytes)
        }
    }

    var isCongested: Bool { state.withLock { $0.outbound.isCongested } }

    /// Why it ended, once it has.
    var endReason: String { state.withLock { $0.end?.reason } ?? "the connection ended" }

    /// Changes the state, and wakes the reader if the change says that there is something for it.
    func update<Result: Sendable>(_ change: (inout State) -> (Result, wakesReader: Bool)) -> Result {
        let (result, reader) = state.withLock { state in
            let (result, wakesReader) = change(&state)
            guard wakesReader else { return (result, nil as CheckedContinuation<Void, Never>?) }
            let reader = state.reader
            state.reader = nil
            state.isReaderNeeded = reader == nil
            return (result, reader)
        }
        reader?.resume()
        return result
    }
}

/// The bytes of all links together.
struct LinkCounters: Sendable {
    let received: Counter
    let sent: Counter

    init(_ metrics: any MetricsFactory) {
        received = metrics.counter(.bytesReceived)
        sent = metrics.counter(.bytesSent)
    }
}

/// Why a connection ended, and whether what had come before may still be taken.
struct LinkEnd {
    static let byPeer = "the peer closed the connection"

    let reason: String
    let deliversRest: Bool
}
