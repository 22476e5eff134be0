import CRDT
import NIOCore
import Replication
import Synchronization
import Testing
import Transport

/// Notes what a transport says, lets tests wait for it, and does what the test wants with messages.
final class RecordingHandler: TransportHandler {
    enum Event: Equatable {
        case opened(LinkID, dialled: Bool)
        case received(Message, LinkID)
        case backlog(LinkID, congested: Bool)
        case closed(LinkID, reason: String)
        case refused(String)
        case dialFailed(port: Int, reason: String)
    }

    private let noted = Mutex<[Event]>([])
    private let onOpened: @Sendable (LinkID) -> Void
    private let onReceived: @Sendable (Message, LinkID) async -> Bool

    /// `onReceived` says whether the message should be noted.
    init(
        onOpened: @escaping @Sendable (LinkID) -> Void = { _ in },
        onReceived: @escaping @Sendable (Message, LinkID) async -> Bool = { _, _ in true }
    ) {
        self.onOpened = onOpened
        self.onReceived = onReceived
    }

    var events: [Event] { noted.withLock { $0 } }

    /// Returns when the events are as wanted, or when the time limit of the test has ended the wait.
    func wait(until isMet: ([Event]) -> Bool) async {
        while !isMet(events), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
        #expect(isMet(events), "\(events.count) events: \(events.suffix(3))")
    }

    private func note(_ event: Event) {
        noted.withLock { $0.append(event) }
    }

    func linkOpened(_ link: LinkID, with device: DeviceID, remote: String, dialled: PeerAddress?) async {
        note(.opened(link, dialled: dialled != nil))
        onOpened(link)
    }

    func received(_ message: Message, on link: LinkID) async {
        if await onReceived(message, link) { note(.received(message, link)) }
    }

    func backlogChanged(_ link: LinkID, congested: Bool) async { note(.backlog(link, congested: congested)) }
    func linkClosed(_ link: LinkID, reason: String) async { note(.closed(link, reason: reason)) }

    func connectionRefused(remote: String, reason: String) async { note(.refused(reason)) }

    func dialFailed(_ address: PeerAddress, _ failure: DialFailure, reason: String) async {
        note(.dialFailed(port: address.port, reason: reason))
    }
}

extension [RecordingHandler.Event] {
    var messages: [Message] { compactMap { if case .received(let message, _) = $0 { message } else { nil } } }
    var opened: [LinkID] { compactMap { if case .opened(let link, _) = $0 { link } else { nil } } }
    var closed: [LinkID] { compactMap { if case .closed(let link, _) = $0 { link } else { nil } } }
    var closingReasons: [String] { compactMap { if case .closed(_, let reason) = $0 { reason } else { nil } } }
    var dialFailures: Int { count { if case .dialFailed = $0 { true } else { false } } }
    var refusals: [String] { compactMap { if case .refused(let reason) = $0 { reason } else { nil } } }
    var congestion: [Bool] { compactMap { if case .backlog(_, let congested) = $0 { congested } else { nil } } }
}
