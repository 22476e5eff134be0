import CRDT
import Engine
import HTTPCoding
import LocalAPI
import Replication
import Storage
import Transport

/// This device and its peers.
extension InventoryService {
    func status() async throws -> Status {
        try await answering {
            let identity = store.identity
            let jobs = try await store.jobCounts()
            return Status(
                deviceID: identity.device.description, replicaID: identity.replica.description, name: facts.hostName,
                version: MusterVersion.current, startedAt: facts.startedAt, clock: clockStatus,
                discovery: facts.discovery.status, peers: try await peers(), jobs: jobs.living,
                removedJobs: jobs.removed,
                server: try await serverContact(), queue: await queueStatus(),
                session: try await currentSession.map(Session.init))
        }
    }

    private func serverContact() async throws -> ServerContact? {
        guard let address = facts.configuration.server else { return nil }
        let standing = await gateway?.standing
        var last = standing?.lastAnswer
        if last == nil { last = try await store.lastServerAnswer() }
        let now = nowMilliseconds
        return ServerContact(
            address: "\(address)", state: ServerContact.State(standing?.state ?? .unknown),
            reason: standing?.state.reason,
            lastAnswerAt: last.map { Timestamp(milliseconds: Int64(clamping: $0)) },
            ageSeconds: last.map { Double(now - min($0, now)) / 1_000 })
    }

    func peers() async throws -> [PeerStatus] {
        let known = await replicator.peers()
        let (overview, remotes, targets) = (known.links, known.remotes, known.targets)
        let elapsed = machine.elapsedMilliseconds
        let wall = machine.wallMilliseconds
        var peers = overview.map { link in
            let remote = remotes[link.link]
            let traffic = transport.traffic(of: link.link)
            let origin: PeerStatus.Origin =
                switch remote?.dialled.flatMap({ targets[$0]?.origin }) {
                case .discovery: .discovery
                case .configured: .configured
                case nil: .incoming
                }
            let silence = elapsed - min(elapsed, link.lastHeard)
            return PeerStatus(
                deviceID: link.peer.device.description, name: link.peer.name, address: remote?.address ?? "",
                state: .connected, origin: origin, behind: Int(clamping: link.behind), ahead: Int(clamping: link.ahead),
                roundTripMilliseconds: link.roundTripMilliseconds.map { Double($0) },
                bytesReceived: Int(clamping: traffic?.bytesReceived ?? 0),
                bytesSent: Int(clamping: traffic?.bytesSent ?? 0),
                transformsReceived: link.received.all, transformsDuplicate: link.received.duplicates,
                lastHeardAt: Timestamp(milliseconds: Int64(clamping: wall - silence)))
        }
        peers += Self.unconnected(targets, connected: Set(overview.map(\.peer.device)))
        return peers
    }

    /// What is known of devices without a connection: one entry each, however many addresses it has.
    private static func unconnected(
        _ targets: [PeerAddress: DialPlan.Target], connected: Set<DeviceID>
    ) -> [PeerStatus] {
        let shortIDs = Set(connected.map(\.short))
        var peers: [PeerStatus] = []
        var places: [String: Int] = [:]
        for (address, target) in targets.sorted(by: { ($0.value.failures, $0.key) < ($1.value.failures, $1.key) }) {
            let id = target.device?.short ?? target.claimedID
            guard !target.isSelf, !(id.map(shortIDs.contains) ?? false) else { continue }
            if let place = id.flatMap({ places[$0] }) {
                // Any address that is being dialled means that the device is.
                if target.isDialling { peers[place].state = .connecting }
                continue
            }
            if let id { places[id] = peers.count }
            peers.append(
                PeerStatus(
                    deviceID: target.device?.description, name: target.instances.min(), address: address.description,
                    state: target.isDialling ? .connecting : target.failures > 0 ? .unreachable : .discovered,
                    origin: target.origin == .discovery ? .discovery : .configured,
                    reason: target.isDialling ? nil : target.lastReason))
        }
        return peers
    }
}

extension ServerContact.State {
    fileprivate init(_ state: ServerStanding.State) {
        switch state {
        case .unknown: self = .unknown
        case .noRoute: self = .noRoute
        case .reached: self = .reached
        case .unreachable: self = .unreachable
        case .unhealthy: self = .unhealthy
        case .unauthorised: self = .unauthorised
        }
    }
}
