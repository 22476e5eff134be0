import CRDT
import Engine
import HTTPCoding
import Identity
import LocalAPI
import Replication

/// Who is in the fleet, and who was shut out.
extension InventoryService {
    func fleetDevices() async throws -> [FleetDevice] {
        let connected = Set(await replicator.connectedPeers().map(\.peer.device.description))
        let revocations = fleet.revocations
        var devices: [FleetDevice] = []
        if let membership = fleet.membership {
            var own = FleetDevice(deviceID: fleet.device.description, state: .own, isConnected: true)
            own.name = facts.hostName
            own.role = membership.own.role.rawValue
            own.issuerID = membership.issuer.key.device.short
            own.validUntil = Timestamp(milliseconds: membership.own.notAfter)
            devices.append(own)
        }
        for known in fleet.knownDevices where known.device != fleet.device.description {
            var device = FleetDevice(
                deviceID: known.device, state: .member, isConnected: connected.contains(known.device))
            (device.name, device.role) = (known.name, known.role)
            device.issuerID = DeviceID(known.issuer)?.short
            device.validUntil = known.validUntil.map { Timestamp(milliseconds: $0) }
            devices.append(device)
        }
        for revocation in revocations.all {
            let id = revocation.device.description
            let place = devices.firstIndex { $0.deviceID == id } ?? devices.endIndex
            if place == devices.endIndex {
                devices.append(FleetDevice(deviceID: id, state: .revoked, isConnected: false))
            }
            devices[place].state = .revoked
            devices[place].revokedAt = Timestamp(milliseconds: revocation.time)
            devices[place].revokedBy = revocation.signer.key.device.short
        }
        return devices
    }

    func revoke(_ request: RevocationRequest) async throws -> [FleetDevice] {
        let news = try await answering {
            switch (request.device, request.revocation) {
            case (let text?, nil): try fleet.revoke(try await resolve(device: text))
            case (nil, let pem?): try await fleet.take(pem)
            default: throw APIError(.invalidValue, "Give 'device' or 'revocation', and not both.")
            }
        }
        if let news { await replicator.revoked(news) }
        return try await fleetDevices().filter { $0.state == .revoked }
    }

    /// A laptop by its id, a unique beginning of one, or its name. One that nobody here has met has to be named in full.
    private func resolve(device text: String) async throws -> DeviceID {
        if let device = DeviceID(text.lowercased()) { return device }
        let devices = try await fleetDevices()
        let named = devices.filter { $0.name == text }
        let found = named.isEmpty ? devices.filter { $0.deviceID.hasPrefix(text.lowercased()) } : named
        guard let first = found.first, let device = DeviceID(first.deviceID), !text.isEmpty else {
            throw APIError(.invalidValue, "No laptop is known as '\(text)'; see 'muster fleet list'.")
        }
        guard found.count == 1 else {
            throw APIError(
                .invalidValue, "Several laptops are known as '\(text)'; give the id of one.",
                candidates: found.prefix(8).map(\.deviceID))
        }
        return device
    }
}
