package import CRDT
package import Engine
import HTTPCoding
import Identity
import Synchronization
package import Transport

/// Who is in the fleet, and who was shut out of it.
extension FleetIdentity: FleetRegister {
    package var revocationFingerprint: UInt64 { revocations.fingerprint }

    package var revocationEntries: [[UInt8]] { revocations.all.map(\.bytes) }

    package func learnRevocations(_ entries: [[UInt8]]) async throws(LinkRefusal) -> RevocationNews? {
        guard let trust = membership?.trust else { return nil }
        var news: [Revocation] = []
        for bytes in entries {
            do throws(Revocation.Refusal) {
                let revocation = try Revocation(bytes)
                if let known = revocations[revocation.device], known <= revocation { continue }
                guard await revocation.isSigned(in: trust) else { throw .notAllowed }
                news.append(revocation)
            } catch {
                throw LinkRefusal(error.sentence)
            }
        }
        return enter(news)
    }

    package func met(_ device: DeviceID, name: String) {
        update { known in
            guard let former = known[device], former.name != name else { return false }
            known[device]?.name = name
            return true
        }
    }

    // MARK: Revoking

    /// Shuts a laptop out, as an issuer.
    ///
    /// - Returns: nil if it was shut out before.
    func revoke(_ device: DeviceID) throws -> RevocationNews? {
        guard let membership else { throw Fault.notEnrolled }
        guard let authority = membership.authority else { throw Fault.notIssuer }
        guard device != self.device else {
            throw Fault.unusable("This laptop does not revoke itself; let it leave the fleet, or use another issuer.")
        }
        if let known = revocations[device] { return try entered(known) }
        let key = state.withLock { $0.key }
        return try entered(
            Revocation(of: device, by: authority.certificate, key: key, fleet: membership.trust.root.key, now: time))
    }

    /// Takes revocations that somebody else has signed, such as the root.
    func take(_ pem: String) async throws -> RevocationNews? {
        guard let trust = membership?.trust else { throw Fault.notEnrolled }
        var news: RevocationNews?
        for revocation in try Revocation.all(inPEM: pem) {
            guard await revocation.isSigned(in: trust) else { throw Revocation.Refusal.notAllowed }
            news = try entered(revocation) ?? news
        }
        return news
    }

    /// What a person has asked for is durable, or has failed.
    private func entered(_ revocation: Revocation) throws -> RevocationNews? {
        guard let news = enter([revocation]) else { return nil }
        try keepRevocations()
        return news
    }

    /// What was news among them is in force at once. Should it not be kept, others tell it again.
    private func enter(_ revocations: [Revocation]) -> RevocationNews? {
        let (news, fingerprint) = state.withLock { state in
            (revocations.filter { state.revocations.add($0) }, state.revocations.fingerprint)
        }
        guard !news.isEmpty else { return nil }
        try? keepRevocations()
        let revoked = Set(news.map(\.device))
        let letIn = state.withLock { state in
            state.known.filter { known in revoked.contains { $0.description == known.value.issuer } }.keys
        }
        return RevocationNews(
            entries: news.map(\.bytes), devices: revoked.union(letIn), fingerprint: fingerprint)
    }

    private func keepRevocations() throws(ConfigurationError) {
        guard let files else { return }
        let result = writing.withLock { _ in
            Result { () throws(ConfigurationError) in
                try files.write(revocations.all.map(\.pem).joined(), to: FleetFiles.revocations)
            }
        }
        try result.get()
    }

    // MARK: Who is known

    /// Ascending by name, the nameless last.
    var knownDevices: [KnownDevice] {
        state.withLock { Array($0.known.values) }.sorted {
            ($0.name == nil ? 1 : 0, $0.name ?? "", $0.device) < ($1.name == nil ? 1 : 0, $1.name ?? "", $1.device)
        }
    }

    /// Whose certificate, the last one that was seen, lets nobody in any more.
    var endedDevices: Set<DeviceID> {
        let earliest = now.earliest
        return state.withLock { state in
            Set(state.known.filter { ($0.value.validUntil ?? .max) < earliest - FleetTrust.grace }.keys)
        }
    }

    func note(_ member: FleetMember) {
        update { known in
            let device = member.key.device
            var entry =
                known[device]
                ?? KnownDevice(
                    device: device.description, role: member.role.rawValue, issuer: member.issuer.device.description)
            (entry.role, entry.issuer) = (member.role.rawValue, member.issuer.device.description)
            entry.validUntil = member.validUntil
            entry.signedAfter = max(entry.signedAfter ?? 0, member.signedAfter)
            guard known[device] != entry else { return false }
            known[device] = entry
            return true
        }
    }

    /// - Parameter change: says whether there is something to keep.
    private func update(_ change: @Sendable (inout [DeviceID: KnownDevice]) -> Bool) {
        let isNews = state.withLock { change(&$0.known) }
        // What is not kept is heard again.
        guard isNews, let files else { return }
        writing.withLock { _ in
            guard let bytes = try? JSON.encode(knownDevices) else { return }
            try? files.write(String(decoding: bytes, as: UTF8.self), to: FleetFiles.devices)
        }
    }

    // MARK: Files

    static func readRegister(_ files: FleetFiles, into state: inout State) throws(ConfigurationError) {
        for revocation in try readRevocations(files) { _ = state.revocations.add(revocation) }
        let devices = try files.read(FleetFiles.devices).flatMap {
            try? JSON.decode([KnownDevice].self, from: Array($0.utf8))
        }
        for known in devices ?? [] {
            if let device = DeviceID(known.device) { state.known[device] = known }
        }
    }

    /// They were looked at when they came. Without them a stolen laptop would be let in: no start without.
    private static func readRevocations(_ files: FleetFiles) throws(ConfigurationError) -> [Revocation] {
        guard let text = try files.read(FleetFiles.revocations) else { return [] }
        do {
            return try Revocation.all(inPEM: text)
        } catch {
            throw ConfigurationError(
                "\(files.path)/\(FleetFiles.revocations) cannot be read; put it back from another laptop of the fleet.")
        }
    }

    static func forgetFleet(_ files: FleetFiles) throws(ConfigurationError) {
        for name in FleetFiles.all { try files.remove(name) }
    }
}
