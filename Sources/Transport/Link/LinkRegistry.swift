import NIOCore
import Replication
import Synchronization

/// Every link that stands, and the caps on them.
final class LinkRegistry: Sendable {
    enum Refusal: String, Error, CustomStringConvertible {
        case full = "too many connections"
        case tooManyHalfOpen = "too many connections that have not said hello"
        case stopping = "this daemon is stopping"

        var description: String { rawValue }
    }

    private struct State {
        var nextNumber: UInt64 = 1
        var links: [LinkID: Link] = [:]
        var halfOpen: Set<LinkID> = []
        var dialling: Set<PeerAddress> = []
        var isStopping = false
        var emptied: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let configuration: TransportConfiguration

    init(configuration: TransportConfiguration) {
        self.configuration = configuration
    }

    subscript(id: LinkID) -> Link? {
        state.withLock { $0.links[id] }
    }

    /// Gives a new connection its link, or says why there is no room for it.
    func admit(_ channel: any Channel, dialled: PeerAddress?) -> Result<Link, Refusal> {
        state.withLock { state in
            guard !state.isStopping else { return .failure(.stopping) }
            guard state.links.count < configuration.linkLimit else { return .failure(.full) }
            guard state.halfOpen.count < configuration.halfOpenLimit else {
                return .failure(.tooManyHalfOpen)
            }
            let id = LinkID(number: state.nextNumber)
            state.nextNumber += 1
            let link = Link(id: id, channel: channel, dialled: dialled, configuration: configuration)
            state.links[id] = link
            state.halfOpen.insert(id)
            return .success(link)
        }
    }

    func greeted(_ id: LinkID) {
        _ = state.withLock { $0.halfOpen.remove(id) }
    }

    /// Everybody was told: the link is forgotten.
    func forget(_ id: LinkID) {
        let emptied = state.withLock { state in
            state.links[id] = nil
            state.halfOpen.remove(id)
            guard state.links.isEmpty else { return nil as CheckedContinuation<Void, Never>? }
            defer { state.emptied = nil }
            return state.emptied
        }
        emptied?.resume()
    }

    /// False when a dial to this address is under way already, or nothing is dialled any more.
    func beginDial(_ address: PeerAddress) -> Bool {
        state.withLock { !$0.isStopping && $0.dialling.insert(address).inserted }
    }

    func endDial(_ address: PeerAddress) {
        state.withLock { _ = $0.dialling.remove(address) }
    }

    /// Admits nothing any more, closes every link and returns when all of them are forgotten.
    func stop(reason: String) async {
        let links = state.withLock { state in
            state.isStopping = true
            return Array(state.links.values)
        }
        for link in links { link.close(reason: reason) }
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if !state.links.isEmpty { state.emptied = continuation }
                return state.links.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }
}
