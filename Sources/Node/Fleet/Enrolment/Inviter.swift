import CRDT
import Engine
import Identity
import Logging
package import Transport
import WireFormat

/// Keeps this laptop's invitations, and speaks with those who want to join by one of them.
///
/// Nothing of it is kept: when the daemon ends its invitations are void.
package actor Inviter: EnrolmentHandler {
    /// An invitation, and whoever has proved that it knows the code.
    struct Entry {
        var invitation: Invitation
        let openedAt: UInt64
        var newcomer: Newcomer?
        /// Whom the answer goes to; its last connection, since it may come anew while its inviter thinks.
        var connection: EnrolmentConnection?
        /// Once its inviter has said yes; a newcomer that has not got them may ask again.
        var certificates: [FleetCertificate]?
    }

    /// Whoever has proved that it knows a code.
    struct Newcomer: Sendable {
        let key: DevicePublicKey
        let name: String
        let remote: String
    }

    /// Why there is no invitation.
    enum Fault: IdentityFault {
        case tooMany
        case unknown(String)
        case ended(Invitation.End)
        case nobodyWaits

        /// What is wrong and what to do.
        var sentence: String {
            switch self {
            case .tooMany: "\(Inviter.mostOpen) invitations are open; let them be used first, or take some back."
            case .unknown(let name): "This laptop has no invitation \(name); open one with 'muster fleet invite'."
            case .ended(let reason): reason.sentence
            case .nobodyWaits: "That laptop does not wait to be let in; look at the invitation again."
            }
        }
    }

    static let mostOpen = 16
    /// How long the end of an invitation is told, from its beginning on.
    private static let remembered = 2 * Invitation.lifetime
    private static let messageLimit: Duration = .seconds(10)

    private let fleet: FleetIdentity
    private let machine: any Machine
    private let hostName: String
    private let logger: Logger
    private var entries: [String: Entry] = [:]
    private var limit: AttemptLimit

    /// Without an invitation.
    init(fleet: FleetIdentity, machine: any Machine, hostName: String, logger: Logger) {
        self.fleet = fleet
        self.machine = machine
        self.hostName = hostName
        self.logger = logger
        limit = AttemptLimit(now: machine.elapsedMilliseconds)
    }

    // MARK: What people do

    /// Opens an invitation; takes a tenth of a second.
    func open(as role: FleetRole) async throws -> InvitationView {
        let membership = try fleet.issuing(role)
        guard entries.values.count(where: { isOpen($0) }) < Self.mostOpen else { throw Fault.tooMany }
        let now = machine.elapsedMilliseconds
        // Whoever can foresee the code joins: it comes from the system and from nothing that can be repeated.
        var generator = SystemRandomNumberGenerator()
        var draw = InvitationCode(using: &generator)
        while entries[draw.name] != nil { draw = InvitationCode(using: &generator) }
        let code = draw
        let invitation = try await Self.slowly {
            try Invitation(code, by: membership.own.key, to: membership.trust.root.key, as: role, now: now)
        }
        entries[code.name] = Entry(invitation: invitation, openedAt: now)
        noteWhetherHeard()
        _ = machine.after(milliseconds: Invitation.lifetime) { await self.expire(code.name) }
        _ = machine.after(milliseconds: Self.remembered) { await self.forget(code.name) }
        logger.info("an invitation is open", metadata: ["invitation": "\(code.name)", "role": "\(role.rawValue)"])
        return try view(code.name)
    }

    /// How an invitation stands.
    func view(_ name: String) throws(Fault) -> InvitationView {
        let now = machine.elapsedMilliseconds
        guard let entry = entries[name] else { throw .unknown(name) }
        var invitation = entry.invitation
        return InvitationView(
            code: invitation.code, role: invitation.role, newcomer: entry.newcomer,
            isAdmitted: entry.certificates != nil, end: invitation.ended(by: now),
            remaining: entry.openedAt + Invitation.lifetime - min(now, entry.openedAt + Invitation.lifetime))
    }

    /// The inviter's person has compared the key words and says yes.
    func admit(_ device: String, to name: String) throws -> InvitationView {
        guard var entry = entries[name] else { throw Fault.unknown(name) }
        if entry.certificates != nil, entry.newcomer?.key.device.description == device { return try view(name) }
        let now = machine.elapsedMilliseconds
        if let reason = entry.invitation.ended(by: now) { throw Fault.ended(reason) }
        guard entry.certificates == nil, let key = entry.invitation.provedNewcomer(by: now),
            let newcomer = entry.newcomer,
            key.device.description == device
        else { throw Fault.nobodyWaits }
        let certificates = try fleet.issue(to: key, as: entry.invitation.role)
        // No laptop meets the server, which would say so then.
        fleet.met(key.device, name: newcomer.name)
        entry.certificates = certificates
        entry.connection?.end(with: .certificates(certificates.map(\.bytes)))
        entry.connection = nil
        entries[name] = entry
        logger.info(
            entry.invitation.role.isLaptops ? "a laptop was let in" : "the server was let in",
            metadata: ["device": "\(key.device.short)", "name": "\(newcomer.name)", "invitation": "\(name)"])
        return try view(name)
    }

    /// The inviter's person takes it back, or says no.
    func withdraw(_ name: String) throws(Fault) -> InvitationView {
        guard entries[name] != nil else { throw .unknown(name) }
        if entries[name]?.certificates == nil { end(name, .withdrawn) }
        return try view(name)
    }

    // MARK: What newcomers do

    package func applied(_ connection: EnrolmentConnection) async {
        switch await connection.next(within: Self.messageLimit) {
        case .ask(let name, let host): await answer(connection, invitation: name, host: host)
        case .renewal: await renew(connection)
        default: connection.close()
        }
    }

    private func renew(_ connection: EnrolmentConnection) async {
        guard let certificates = await fleet.renewed(connection.chain) else {
            return connection.end(with: .refusal(.notRenewable))
        }
        connection.end(with: .certificates(certificates.map(\.bytes)))
        logger.info(
            "a certificate was renewed",
            metadata: ["device": "\(certificates[0].key.device.short)", "remote": "\(connection.remote)"])
    }

    private func answer(_ connection: EnrolmentConnection, invitation name: String, host: String) async {
        guard let shown = connection.chain.first.flatMap({ try? FleetCertificate($0) }) else {
            return connection.close()
        }
        guard limit.allowsOne(now: machine.elapsedMilliseconds) else {
            return connection.end(with: .refusal(.busy))
        }
        guard let role = entries[name]?.invitation.role, let membership = fleet.membership else {
            return connection.end(with: .refusal(.elsewhere))
        }
        guard !fleet.revocations.contains(shown.key.device) else { return connection.end(with: .refusal(.revoked)) }
        // A laptop is no server, by its own word or as it is known here, whatever code it has.
        guard role.isSameKind(as: shown.role), fleet.mayBecome(role, shown.key) else {
            return connection.end(with: .refusal(.otherKind))
        }
        connection.send(.terms(root: membership.trust.root.bytes, role: role.rawValue, name: hostName))
        guard case .newcomerProof(let proof)? = await connection.next(within: Self.messageLimit) else {
            return connection.close()
        }
        prove(Newcomer(key: shown.key, name: host, remote: connection.remote), proof, to: name, on: connection)
    }

    private func prove(
        _ newcomer: Newcomer, _ proof: [UInt8], to name: String, on connection: EnrolmentConnection
    ) {
        guard var entry = entries[name] else { return connection.close() }
        let answer = entry.invitation.onAttempt(
            naming: name, by: newcomer.key, proof: proof, now: machine.elapsedMilliseconds)
        entries[name]?.invitation = entry.invitation
        switch answer {
        case .notThis: connection.close()
        case .wrongCode(let left):
            log("a wrong code came", newcomer, name)
            connection.end(with: .refusal(.wrongCode(triesLeft: left)))
        case .void(let end):
            log("an attempt came for an invitation that is void", newcomer, name)
            connection.end(with: .refusal(EnrolmentRefusal(end)))
        case .proved(let proof):
            connection.prove()
            connection.send(.inviterProof(proof))
            if let certificates = entry.certificates {
                return connection.end(with: .certificates(certificates.map(\.bytes)))
            }
            entries[name]?.connection?.close()
            entries[name]?.connection = connection
            entries[name]?.newcomer = newcomer
            log(
                entry.invitation.role.isLaptops ? "a laptop waits to be let in" : "a server waits to be let in",
                newcomer, name)
        }
    }

    private func log(_ message: Logger.Message, _ newcomer: Newcomer, _ name: String) {
        logger.notice(
            message,
            metadata: [
                "device": "\(newcomer.key.device.short)", "name": "\(newcomer.name)", "remote": "\(newcomer.remote)",
                "invitation": "\(name)",
            ])
    }

    // MARK: The end

    private func expire(_ name: String) {
        if entries[name]?.certificates == nil { end(name, .expired) }
    }

    private func end(_ name: String, _ reason: Invitation.End) {
        entries[name]?.invitation.end(reason)
        entries[name]?.connection?.end(with: .refusal(EnrolmentRefusal(reason)))
        entries[name]?.connection = nil
        logger.info("an invitation has ended", metadata: ["invitation": "\(name)", "reason": "\(reason)"])
    }

    private func isOpen(_ entry: Entry) -> Bool {
        var invitation = entry.invitation
        return invitation.ended(by: machine.elapsedMilliseconds) == nil
    }

    /// Who comes too late is told why.
    private func noteWhetherHeard() {
        fleet.isInviting = !entries.isEmpty
    }

    private func forget(_ name: String) {
        entries[name] = nil
        noteWhetherHeard()
    }

    /// Beside the event loop's thread, on which everybody else waits.
    static func slowly<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await Task.detached(executorPreference: globalConcurrentExecutor) { try work() }.value
    }
}

/// An invitation as people see it.
struct InvitationView: Sendable {
    let code: InvitationCode
    let role: FleetRole
    let newcomer: Inviter.Newcomer?
    let isAdmitted: Bool
    /// Nil while it is open.
    let end: Invitation.End?
    /// Milliseconds.
    let remaining: UInt64
}

extension EnrolmentRefusal {
    /// Why an invitation is not open any more.
    fileprivate init(_ end: Invitation.End) {
        self =
            switch end {
            case .expired: .expired
            case .triesUsedUp: .triesUsedUp
            case .used: .used
            case .withdrawn: .withdrawn
            }
    }
}
