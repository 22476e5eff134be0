package import CRDT
package import Engine
import Foundation
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
        let news: [Revocation]
        do throws(Revocation.Refusal) { news = try await revocations.news(in: entries, of: trust) } catch {
            throw LinkRefusal(error.sentence)
        }
        return take(news)
    }

    /// Should they not be kept, others tell them again.
    package func keepRevocations() async { try? keep([]) }

    package func vouches(for author: JournalAuthor) async -> Bool {
        // Who is in no fleet meets nobody, and asks no server.
        guard let trust = membership?.trust else { return false }
        return await vouched.includes(author, in: trust, now: now)
    }

    package func met(_ device: DeviceID, name: String) {
        update { known in
            guard let former = known[device], former.name != name else { return false }
            known[device]?.name = name
            return true
        }
    }

    // MARK: Revoking

    /// Shuts a laptop out, as an issuer; the one that is known, if it was shut out before.
    ///
    /// - Returns: what is to be entered.
    func revocation(of device: DeviceID) throws -> Revocation {
        guard let membership else { throw Fault.notEnrolled }
        guard let authority = membership.authority else {
            throw Fault.notPermitted(
                "This laptop may not revoke: use one that lets others in, or the fleet's root ('fleet revoke --root FILE')."
            )
        }
        guard device != self.device else {
            throw Fault.unusable("This laptop does not revoke itself; let it leave the fleet, or use another issuer.")
        }
        guard !isRevoked else { throw Fault.revoked }
        if let known = revocations[device] { return known }
        let key = state.withLock { $0.key }
        return try Revocation(
            of: device, by: authority.certificate, key: key, fleet: membership.trust.root.key, now: time)
    }

    /// Those that somebody else has signed, such as the root.
    ///
    /// - Throws: where one is none, or nobody who may has signed it.
    func revocations(inPEM pem: String) async throws -> [Revocation] {
        guard let trust = membership?.trust else { throw Fault.notEnrolled }
        let revocations = try Revocation.all(inPEM: pem)
        guard !revocations.isEmpty else { throw Revocation.Refusal.unreadable }
        for revocation in revocations {
            guard await revocation.isSigned(in: trust) else { throw Revocation.Refusal.notAllowed }
        }
        return revocations
    }

    /// What a person has asked for is durable before it is in force; or it has failed, and nothing has changed.
    ///
    /// - Returns: what was news; nil if nothing was.
    func enter(_ revocations: [Revocation]) throws -> RevocationNews? {
        let log = self.revocations.adding(revocations)
        guard revocations.allSatisfy({ log.contains($0.device) }) else {
            throw Fault.unusable("This fleet has revoked too many laptops: begin a new one.")
        }
        try keep(revocations)
        return take(revocations)
    }

    /// What was news among them is in force at once.
    private func take(_ revocations: [Revocation]) -> RevocationNews? {
        let news = state.withLock { state in
            defer { state.forgetVoidRenewal() }
            return revocations.filter { state.revocations.add($0) }
        }
        guard !news.isEmpty else { return nil }
        let revoked = Set(news.map(\.device))
        let letIn = state.withLock { state in
            state.known.filter { known in revoked.contains { $0.description == known.value.issuer } }.keys
        }
        return RevocationNews(entries: news.map(\.bytes), named: revoked, devices: revoked.union(letIn))
    }

    package func isShutOut(_ device: DeviceID) -> Bool { revocation(concerning: device) != nil }

    /// By what a laptop is shut out: its own revocation, or that of whoever let it in; nil if it is not.
    func revocation(concerning device: DeviceID) -> Revocation? {
        state.withLock { state in
            let issuer =
                device == state.key.publicKey.device
                ? state.membership?.issuer.key.device : state.known[device].flatMap { DeviceID($0.issuer) }
            return state.revocations[device] ?? issuer.flatMap { state.revocations[$0] }
        }
    }

    /// Keeps what is known, and more.
    private func keep(_ more: [Revocation]) throws(ConfigurationError) {
        guard let files else { return }
        let result = writing.withLock { _ in
            Result { () throws(ConfigurationError) in
                let text = revocations.adding(more).all.map(\.pem).joined()
                try files.write(text, to: FleetFiles.revocations)
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

    /// - Parameter chain: by which it was let in; nil where it has only been issued one.
    func note(_ member: FleetMember, showing chain: [[UInt8]]? = nil) {
        update { known in
            let device = member.key.device
            var entry =
                known[device]
                ?? KnownDevice(
                    device: device.description, role: member.role.rawValue, issuer: member.issuer.device.description)
            (entry.role, entry.issuer) = (member.role.rawValue, member.issuer.device.description)
            entry.validUntil = member.validUntil
            entry.signedAfter = max(entry.signedAfter ?? 0, member.signedAfter)
            if let chain { entry.chain = chain.map { Data($0) } }
            guard known[device] != entry else { return false }
            known[device] = entry
            return true
        }
    }

    /// Who would be let in by this on a connection; nobody is noted.
    func member(showing chain: [[UInt8]]) async -> FleetMember? {
        guard let trust = membership?.trust,
            let member = try? await trust.judge(chain, now: now, revocations: revocations), member.role.isLaptops
        else { return nil }
        return member
    }

    /// Those who would be let in again by what they showed last.
    var membersMet: [FleetMember] {
        get async {
            var members: [FleetMember] = []
            for known in knownDevices {
                guard let chain = known.chain, let member = await member(showing: chain.map { Array($0) }) else {
                    continue
                }
                members.append(member)
            }
            return members
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

    /// What stands in the files, into the state of a laptop that is in a fleet.
    static func readRegister(_ files: FleetFiles, into state: inout State) async throws(ConfigurationError) {
        guard let trust = state.membership?.trust else { return }
        state.revocations = try await readRevocations(files, in: trust)
        state.forgetVoidRenewal()
        let devices = try files.read(FleetFiles.devices).flatMap {
            try? JSON.decode([KnownDevice].self, from: Array($0.utf8))
        }
        for known in devices ?? [] {
            if let device = DeviceID(known.device) { state.known[device] = known }
        }
    }

    /// Without them, or with some of them, a stolen laptop would be let in, and a false one would have every peer cut this laptop
    /// off: no start unless all of the file is what was written.
    private static func readRevocations(
        _ files: FleetFiles, in trust: FleetTrust
    ) async throws(ConfigurationError) -> RevocationLog {
        guard let text = try files.read(FleetFiles.revocations) else { return RevocationLog() }
        let read = (try? Revocation.all(inPEM: text)) ?? []
        var isSound = !read.isEmpty && read.map(\.pem).joined() == text
        for revocation in read where isSound { isSound = await revocation.isSigned(in: trust) }
        guard isSound else {
            throw ConfigurationError(
                "\(files.path)/\(FleetFiles.revocations) cannot be read; put it back from another laptop of the fleet.")
        }
        return RevocationLog().adding(read)
    }

    static func forgetFleet(_ files: FleetFiles) throws(ConfigurationError) {
        for name in FleetFiles.all { try files.remove(name) }
    }
}
