import CRDT
import Discovery
import Engine
import LocalAPI
import Replication

/// What the doctor sees of other laptops.
extension InventoryService {
    func neighbourChecks() async -> [HealthCheck] {
        let known = await replicator.peers()
        let services = facts.discovery.services
        var neighbourhood = Neighbourhood()
        neighbourhood.searchedSeconds = facts.discovery.availableFor.map(\.components.seconds)
        neighbourhood.found = Set(services.map(\.id)).count
        neighbourhood.incoming = known.links.filter { !$0.isDialled }.map(\.peer.name)
        neighbourhood.connected = known.links.count
        return [
            HealthRules.reach(
                Self.unreached(
                    known.targets, connected: Set(known.links.map(\.peer.device)), name: name(ofShortID:)),
                connected: known.links.count),
            HealthRules.isolation(neighbourhood),
            HealthRules.versions(await replicator.unfitPeers),
        ]
    }

    /// What people call the laptop of a short id, as it has said itself: nil before it was met.
    private func name(ofShortID id: String) -> String? {
        fleet.knownDevices.first { DeviceID($0.device)?.short == id }?.name
    }

    /// One for each laptop without a connection, at none of whose addresses anybody was reached.
    static func unreached(
        _ targets: [PeerAddress: DialPlan.Target], connected: Set<DeviceID>, name: (String) -> String?
    ) -> [UnreachedPeer] {
        let connectedIDs = Set(connected.map(\.short))
        // Without an id each address is somebody of its own.
        let laptops = Dictionary(grouping: targets.filter { !$0.value.isSelf }.sorted { $0.key < $1.key }) {
            address, target in
            target.device?.short ?? target.claimedID ?? address.description
        }
        return laptops.sorted { $0.key < $1.key }.compactMap { id, addresses in
            let failures = addresses.compactMap { address, target in target.lastFailure.map { (address, $0) } }
            // One that is still being tried for the first time may be it.
            guard !connectedIDs.contains(id), failures.count == addresses.count else { return nil }
            // What somebody there has said tells more than silence elsewhere.
            guard let told = failures.min(by: { $0.1.rank < $1.1.rank }) else { return nil }
            return UnreachedPeer(
                name: name(id) ?? addresses.compactMap { $0.value.instances.min() }.first ?? "a laptop",
                isAnnounced: addresses.contains { !$0.value.instances.isEmpty }, failure: told.1, address: told.0)
        }
    }
}

extension DialFailure {
    /// How much it tells: the least first.
    fileprivate var rank: Int {
        [.notShown, .refused, .other, .silent, .noWay, .unknownName].firstIndex(of: self) ?? 0
    }
}
