import CRDT
import Engine
import HTTPCoding
import Identity
import LocalAPI
import LocalAPIServer
import Replication
import Storage
import Transport

/// Journals go over in files (docs/carry.md).
extension InventoryService {
    func carryCard() async throws -> CarryCard {
        try await answering {
            guard let membership = fleet.membership else { throw FleetIdentity.Fault.notEnrolled }
            guard !fleet.isRevoked else { throw FleetIdentity.Fault.revoked }
            return CarryCard(
                deviceID: fleet.device.description, name: facts.hostName,
                certificates: membership.chain.map(\.pem).joined())
        }
    }

    func carryRecipients(_ request: CarryRecipientsRequest) async throws -> [CarryRecipient] {
        try await answering {
            let shown = try await members(shownBy: request.cards ?? [])
            let known = try await reachable()
            let all = known.merging(shown) { $1 }
            guard let names = request.names, !names.isEmpty else {
                return all.keys.sorted().map { recipient($0) }
            }
            var chosen: Set<DeviceID> = []
            for name in names {
                let device = try await resolve(device: name)
                _ = try key(of: device, all[device])
                chosen.insert(device)
            }
            return chosen.sorted().map { recipient($0) }
        }
    }

    func carryOut(_ request: CarryOutRequest) async throws -> Chunks {
        try await answering {
            guard let membership = fleet.membership else { throw FleetIdentity.Fault.notEnrolled }
            guard !fleet.isRevoked else { throw FleetIdentity.Fault.revoked }
            guard let device = DeviceID(request.to) else {
                throw APIError(.invalidValue, "'\(request.to)' is no laptop's id: give its 64 hexadecimal digits.")
            }
            var member = try await members(shownBy: request.cards ?? [])[device]
            if member == nil { member = try await reachable()[device] }
            let recipient = try key(of: device, member)
            var only: Set<JobID>?
            for job in request.jobs ?? [] { only = (only ?? []).union([try await resolve(job: job).id]) }
            let out = try await replicator.carryOut(to: member?.jobAccess ?? JobAccess(device), only: only)
            let file = try CarriedOutFile(
                out, to: recipient, by: fleet.key, showing: membership.chain.map(\.bytes))
            return Chunks { try await file.next() }
        }
    }

    func carryIn(_ upload: Upload) async throws -> CarryReport {
        let file = CarriedInFile(self)
        do { for try await piece in upload.pieces { await file.add(piece) } } catch {
            // What stood before it broke off is taken.
            _ = try? await file.finish()
            throw error
        }
        return try await file.finish()
    }

    /// In the words of the API.
    func report(on came: CarriedReport.Job, of job: JobID) async -> CarriedJobReport {
        let names = Dictionary(
            fleet.knownDevices.map { ($0.device, $0.name) }, uniquingKeysWith: { first, _ in first })
        let authors = came.authors.map { device in
            device == fleet.device ? facts.hostName : (names[device.description] ?? nil) ?? device.short
        }
        return CarriedJobReport(
            job: "\(job)", name: await name(of: job), changes: Int(clamping: came.changes), hasEnded: came.hasEnded,
            laptops: authors.sorted(), refused: came.refused)
    }

    private func name(of job: JobID) async -> String? {
        guard let details = try? await self.job("\(job)", makesDigest: false) else { return nil }
        return details.name
    }

    private func recipient(_ device: DeviceID) -> CarryRecipient {
        let known = fleet.knownDevices.first { $0.device == device.description }
        return CarryRecipient(deviceID: device.description, name: known?.name)
    }

    /// Who shows a card would be let in with it on a connection.
    private func members(shownBy cards: [String]) async throws -> [DeviceID: FleetMember] {
        var members: [DeviceID: FleetMember] = [:]
        for card in cards.prefix(CarryRecipientsRequest.mostCards) {
            // One that was cut short when the stick was pulled out, of another fleet, or of somebody who was revoked may lie on it.
            guard let chain = try? FleetCertificate.all(inPEM: card) else { continue }
            guard let member = await fleet.member(showing: chain.map(\.bytes)), member.key.device != fleet.device else {
                continue
            }
            members[member.key.device] = member
        }
        return members
    }

    /// Whose key is known, and who would be let in: by what they showed on a connection, or by the certificates beside a journal.
    private func reachable() async throws -> [DeviceID: FleetMember] {
        guard fleet.membership != nil else { throw FleetIdentity.Fault.notEnrolled }
        var members: [DeviceID: FleetMember] = [:]
        for author in try await store.certifiedAuthors() {
            guard let member = await fleet.member(showing: author.certificates), member.key.device != fleet.device
            else {
                continue
            }
            members[member.key.device] = member
        }
        for member in await fleet.membersMet where member.key.device != fleet.device {
            members[member.key.device] = member
        }
        return members
    }

    private func key(of device: DeviceID, _ member: FleetMember?) throws -> DevicePublicKey {
        guard device != fleet.device else {
            throw APIError(.invalidValue, "This laptop has what it would carry to itself: name another one.")
        }
        guard !fleet.isShutOut(device), !fleet.endedDevices.contains(device) else {
            throw APIError(
                .notPermitted,
                "The laptop \(device.short) was revoked, or its certificate ran out: nothing is carried to it.")
        }
        guard let member else {
            throw APIError(
                .invalidValue,
                "The key of the laptop \(device.short) is not known here: carry out there first, onto the same stick, which leaves its card."
            )
        }
        return member.key
    }
}
