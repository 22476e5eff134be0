import Engine
import LocalAPI
import Replication
import Transport

/// Addresses: those of others that people name, and this laptop's own.
extension InventoryService {
    @discardableResult
    func addPeer(_ request: AddPeerRequest) async throws -> AddPeerRequest {
        let address = try Self.address(request.address)
        if request.keep ?? false { try answeringFiles { try keptPeers.add(address) } }
        await replicator.updatePlan { plan, now in plan.onConfigured(address, now: now) }
        return AddPeerRequest(address: "\(address)", keep: request.keep)
    }

    func removePeer(_ text: String) async throws -> AddPeerRequest {
        let address = try Self.address(text)
        guard !keptPeers.configured.contains(address) else {
            throw APIError(
                .invalidValue,
                "\(address) stands in the daemon's settings: take it out of 'peers' there (musterd(8), docs/configuration.md), and then 'systemctl reload musterd'."
            )
        }
        let wasKept = try answeringFiles { try keptPeers.remove(address) }
        // One that was named without being kept can be taken back, too.
        guard await replicator.forgetNamed(address) || wasKept else {
            throw APIError(
                .unknownPeer,
                "\(address) was not added on this laptop: 'muster peers --wide' shows what is known by which way.")
        }
        return AddPeerRequest(address: "\(address)")
    }

    func ownAddresses() async throws -> [OwnAddress] {
        guard let port = transport.boundPort else { return [] }
        return OwnAddresses.all(listeningAt: facts.configuration.listen.host, port: port)
    }

    private func answeringFiles<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as ConfigurationError { throw APIError(.unavailable, "\(error)") }
    }

    private static func address(_ text: String) throws(APIError) -> PeerAddress {
        guard let address = PeerAddress(byPerson: text, defaultPort: NodeConfiguration.defaultPort) else {
            throw APIError(
                .invalidValue,
                "'\(text)' is no address; write HOST:PORT, for example 192.168.1.20:7473 or [fe80::1%eth0]:7473.")
        }
        return address
    }
}
