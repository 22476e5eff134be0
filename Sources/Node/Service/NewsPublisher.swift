import CRDT
import Engine
import LocalAPI
import LocalAPIServer
import Outbox
import ServiceLifecycle
import Synchronization

/// Tells those who listen what becomes of requests to the server, and who comes and goes.
///
/// It compares what is there with what was there the last time: what happened in between and is over is not told.
final class NewsPublisher: Service {
    private enum Topic { case queue, peers }

    /// What was there the last time; nil while nobody listens: a queue of thousands is not compared at each change for nobody.
    private struct Known: Sendable {
        var queue: [MutationToken: QueuedMutation]?
        var pauses: Pauses?
        var peers: [String: PeerStatus]?
    }

    /// What a person has paused: everything, or lanes.
    private struct Pauses: Equatable {
        let areAll: Bool
        let lanes: Set<LaneID>

        init(_ standing: OutboxStanding) { (areAll, lanes) = (standing.isPaused, standing.pausedLanes) }
    }

    private let service: InventoryService
    private let hub: EventHub
    private let due = Mutex<Set<Topic>>([])
    private let known = Mutex(Known())
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(service: InventoryService) {
        self.service = service
        hub = service.hub
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Has the outbox and the mesh say when something has changed.
    func attach() async {
        await service.outbox.onChange { [weak self] in self?.note(.queue) }
        await service.replicator.onPeersChange { [weak self] in self?.note(.peers) }
        hub.beforeListening { [weak self] in await self?.look() }
    }

    /// Looks at what is there, unless that is known.
    private func look() async {
        let isKnown = known.withLock { ($0.queue != nil, $0.peers != nil) }
        let pauses = hub.wants(.pause) ? Pauses(await service.outbox.standing) : nil
        let queue = isKnown.0 || !hub.wants(.queue) ? nil : await currentQueue()
        let peers = isKnown.1 || !hub.wants(.peer) ? nil : await currentPeers()
        known.withLock { known in
            known.queue = known.queue ?? queue
            known.pauses = known.pauses ?? pauses
            known.peers = known.peers ?? peers
        }
    }

    private func note(_ topic: Topic) {
        due.withLock { _ = $0.insert(topic) }
        signal.yield()
    }

    func run() async throws { await cancelWhenGracefulShutdown { await self.tell() } }

    /// Tells what is new until the task is cancelled.
    func tell() async {
        for await _ in signals {
            let topics = due.withLock { due in
                defer { due = [] }
                return due
            }
            if topics.contains(.queue) {
                await tellPauses()
                await tellQueue()
            }
            if topics.contains(.peers) { await tellPeers() }
        }
    }

    // MARK: Requests

    private func currentQueue() async -> [MutationToken: QueuedMutation] {
        Dictionary(await service.outbox.queue.map { ($0.entry.token, $0) }) { first, _ in first }
    }

    /// In the order of the queue; before them those that are not in it any more.
    private func tellQueue() async {
        guard hub.wants(.queue) else { return known.withLock { $0.queue = nil } }
        let queue = await service.outbox.queue
        let now = Dictionary(queue.map { ($0.entry.token, $0) }) { first, _ in first }
        let before = known.withLock { known in
            defer { known.queue = now }
            return known.queue
        }
        guard let before else { return }
        let gone = before.keys.filter { now[$0] == nil }.sorted()
        let changed = queue.filter { before[$0.entry.token] != $0 }.map(\.entry.token)
        for token in gone + changed {
            guard let entry = try? await service.queued(token.description) else { continue }
            hub.publish(.queue(entry))
        }
    }

    private func tellPauses() async {
        guard hub.wants(.pause) else { return known.withLock { $0.pauses = nil } }
        let now = Pauses(await service.outbox.standing)
        let before = known.withLock { known in
            defer { known.pauses = now }
            return known.pauses
        }
        guard let before, before != now else { return }
        hub.publish(.pause(await service.queueStatus()))
    }

    // MARK: Devices

    private func currentPeers() async -> [String: PeerStatus] {
        let peers = (try? await service.peers()) ?? []
        return Dictionary(peers.map { ($0.deviceID ?? $0.address, $0) }) { first, _ in first }
    }

    private func tellPeers() async {
        guard hub.wants(.peer) else { return known.withLock { $0.peers = nil } }
        let now = await currentPeers()
        let before = known.withLock { known in
            defer { known.peers = now }
            return known.peers
        }
        guard let before else { return }
        for (name, peer) in now.sorted(by: { $0.key < $1.key }) where before[name]?.state != peer.state {
            hub.publish(.peer(peer))
        }
        for (name, peer) in before.sorted(by: { $0.key < $1.key }) where now[name] == nil && peer.state == .connected {
            var peer = peer
            peer.state = .discovered
            hub.publish(.peer(peer))
        }
    }
}
