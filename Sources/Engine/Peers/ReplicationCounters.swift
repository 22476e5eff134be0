import CRDT
import CoreMetrics
import Metering
import Replication

/// What a replicator counts: a few additions for each message, none of them for each change in it.
struct ReplicationCounters: Sendable {
    private let written: Counter
    private let received: Counter
    private let stored: Counter
    private let sent: Counter
    let linksOpened: Counter
    let linksClosed: Counter
    let connectionsRefused: Counter

    init(_ metrics: any MetricsFactory) {
        written = metrics.counter(.changesWritten)
        received = metrics.counter(.changesReceived)
        stored = metrics.counter(.changesStored)
        sent = metrics.counter(.changesSent)
        linksOpened = metrics.counter(.linksOpened)
        linksClosed = metrics.counter(.linksClosed)
        connectionsRefused = metrics.counter(.connectionsRefused)
    }

    func wrote(_ run: JournalSegment) { written.increment(by: run.count) }

    func tookIn(_ run: JournalSegment) { stored.increment(by: run.count) }

    func received(_ message: Message) {
        if case .delta(_, let run, _) = message { received.increment(by: run.count) }
    }

    func sent(_ message: Message) {
        if case .delta(_, let run, _) = message { sent.increment(by: run.count) }
    }
}

extension JournalSegment {
    /// How many transforms it has. What a peer says of that is believed as far as its bytes go: each takes one at least.
    fileprivate var count: Int {
        guard head.sequence >= first else { return 0 }
        return min(Int(clamping: head.sequence - first), bytes.count - 1) + 1
    }
}
