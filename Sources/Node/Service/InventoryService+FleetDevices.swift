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
        var devices: [FleetDevice] = []
        if let membership = fleet.membership {
            var own = Self.device(fleet.device, .own, isConnected: true)
            own.name = facts.hostName
            own.role = membership.own.role.rawValue
            own.issuerID = membership.issuer.key.device.short
            own.validUntil = Timestamp(milliseconds: membership.validUntil)
            devices.append(own)
        }
        for known in fleet.knownDevices where known.device != fleet.device.description {
            guard let id = DeviceID(known.device) else { continue }
            var device = Self.device(id, .member, isConnected: connected.contains(known.device))
            (device.name, device.role) = (known.name, known.role)
            device.issuerID = DeviceID(known.issuer)?.short
            device.validUntil = known.validUntil.map { Timestamp(milliseconds: $0) }
            devices.append(device)
        }
        // Of some that were shut out nothing else is known.
        let listed = Set(devices.map(\.deviceID))
        for revocation in fleet.revocations.all where !listed.contains(revocation.device.description) {
            devices.append(Self.device(revocation.device, .revoked, isConnected: false))
        }
        for place in devices.indices {
            guard let device = DeviceID(devices[place].deviceID),
                let revocation = fleet.revocation(concerning: device)
            else { continue }
            devices[place].state = .revoked
            devices[place].revokedAt = Timestamp(milliseconds: revocation.time)
            devices[place].revokedBy = revocation.signer.key.device.short
        }
        return devices
    }

    private static func device(_ device: DeviceID, _ state: FleetDevice.State, isConnected: Bool) -> FleetDevice {
        FleetDevice(
            deviceID: device.description, keyWords: KeyWords.of(device), state: state, isConnected: isConnected)
    }

    func revoke(_ request: RevocationRequest) async throws -> [FleetDevice] {
        let news = try await answering {
            switch (request.device, request.revocation) {
            case (let text?, nil): try await revoke(try await resolve(device: text))
            case (nil, let pem?): try await take(revocations: pem)
            default: throw APIError(.invalidValue, "Give 'device' or 'revocation', and not both.")
            }
        }
        if let news { await replicator.revoked(news) }
        await gateway?.fleetChanged()
        return try await fleetDevices().filter { $0.state == .revoked }
    }

    /// How far its journals count is durable before the revocation is: a crash in between leaves something to do again.
    private func revoke(_ device: DeviceID) async throws -> RevocationNews? {
        try await enter([try fleet.revocation(of: device)])
    }

    private func take(revocations pem: String) async throws -> RevocationNews? {
        try await enter(try await fleet.revocations(inPEM: pem))
    }

    private func enter(_ revocations: [Revocation]) async throws -> RevocationNews? {
        await replicator.assigned(try await assignments.bound(revocations))
        return try fleet.enter(revocations)
    }

    /// A laptop by its id, a unique beginning of one, or its name. One that nobody here has met has to be named in full. Fewer than
    /// four characters are the beginning of none: a slip would shut out whoever is the only one so far.
    func resolve(device text: String) async throws -> DeviceID {
        if let device = DeviceID(text.lowercased()) { return device }
        let devices = try await fleetDevices()
        // Who has come back with another key is not the one that was shut out.
        let all = devices.filter { $0.name == text }
        let present = all.filter { $0.state != .revoked }
        let named = present.isEmpty ? all : present
        let found = named.isEmpty ? devices.filter { $0.deviceID.hasPrefix(text.lowercased()) } : named
        guard let first = found.first, let device = DeviceID(first.deviceID),
            !text.isEmpty, found.count > 1 || !named.isEmpty || text.utf8.count >= 4
        else {
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
