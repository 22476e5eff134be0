import CRDT
import Engine
import HTTPCoding
import Identity
import LocalAPI
import Storage
import Transport

/// This laptop's place in a fleet.
extension InventoryService {
    func fleetStatus() async throws -> FleetStatus {
        try await answering {
            let membership = fleet.membership
            var status = FleetStatus(
                deviceID: fleet.device.description, isIssuer: membership?.authority != nil,
                isRevoked: fleet.isRevoked, request: try fleet.request,
                time: Timestamp(milliseconds: Int64(nowMilliseconds)))
            status.fleetID = membership?.trust.short
            status.rootID = membership?.trust.root.key.device.description
            status.role = membership?.own.role.rawValue
            status.validUntil = membership.map { Timestamp(milliseconds: $0.validUntil) }
            status.issuerID = membership?.issuer.key.device.short
            return status
        }
    }

    func installCertificates(_ request: FleetCertificates) async throws -> FleetStatus {
        try await answering { try await fleet.install(request.certificates) }
        return try await fleetStatus()
    }

    func signCertificate(_ request: SignCertificateRequest) async throws -> FleetCertificates {
        let role = try FleetRole(named: request.role)
        return try await answering { FleetCertificates(certificates: try fleet.sign(request.request, as: role)) }
    }

    func leaveFleet() async throws -> FleetStatus {
        // Its key is of no use after that: it may have been revoked without this laptop's hearing of it.
        try await answering {
            guard fleet.membership != nil || fleet.device != store.identity.device else {
                throw FleetIdentity.Fault.notEnrolled
            }
            // Also if the store cannot follow: the former key is gone by then.
            defer { transport.closeAll(reason: "This laptop has left the fleet.") }
            try await replicator.takeNewKey(reason: "This laptop has left its fleet.")
        }
        return try await fleetStatus()
    }
}
