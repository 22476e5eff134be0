import NIOCore
import Replication
import Synchronization

/// Every link that stands, and the caps on them.
final class LinkRegistry: Sendable {
    private struct State {
        var nextNumber: UInt64 = 1
        var links: [LinkID: Link] = [:]
        var admission: Admission
        var dialling: Set<PeerAddress> = []
        var isStopping = false
        var emptied: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>
    private let configuration: TransportConfiguration
    private let counters: LinkCounters

    init(configuration: TransportConfiguration, counters: LinkCounters) {
        self.configuration = configuration
        self.counters = counters
        state = Mutex(State(admission: Admission(limits: configuration.connections)))
    }

    subscript(id: LinkID) -> Link? {
        state.withLock { $0.links[id] }
    }

    var all: [Link] { state.withLock { Array($0.links.values) } }

    /// Gives a new connection its link, or says why there is no room for it.
    func admit(_ channel: any Channel, dialled: PeerAddress?) -> Result<Link, Admission.Refusal> {
        let source = channel.remoteAddress.map(RemoteName.init)?.host ?? "unknown"
        let (result, evicted) = state.withLock { state -> (Result<Link, Admission.Refusal>, Link?) in
            guard !state.isStopping else { return (.failure(.stopping), nil) }
            let id = LinkID(number: state.nextNumber)
            let verdict =
                dialled == nil
                ? state.admission.admitIncoming(id, from: source) : state.admission.admitDialled(id)
            switch verdict {
            case .refused(let refusal): return (.failure(refusal), nil)
            case .admitted(let evicted):
                state.nextNumber += 1
                let link = Link(
                    id: id, channel: channel, dialled: dialled, configuration: configuration, counters: counters)
                state.links[id] = link
                return (.success(link), evicted.flatMap { state.links[$0] })
            }
        }
        evicted?.abort(reason: "a newer connection needed its room before it was greeted")
        return result
    }

    func spoke(_ id: LinkID) {
        state.withLock { $0.admission.spoke(id) }
    }

    func proved(_ id: LinkID) -> Admission.Refusal? {
        state.withLock { $0.admission.proved(id) }
    }

    /// Everybody was told: the link is forgotten.
    func forget(_ id: LinkID) {
        let emptied = state.withLock { state in
            state.links[id] = nil
            state.admission.left(id)
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
