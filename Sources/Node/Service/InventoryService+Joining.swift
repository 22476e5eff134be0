import CRDT
import Enrolment
import Identity
import LocalAPI

/// Letting laptops in by a code, and being let in.
extension InventoryService {
    func openInvitation(_ request: InvitationRequest) async throws -> InvitationStatus {
        let role = try FleetRole(named: request.role)
        let view = try await answering { try await inviter.open(as: role) }
        var status = InvitationStatus(view)
        status.code = view.code.description
        return status
    }

    func invitation(_ name: String) async throws -> InvitationStatus {
        try await answering { InvitationStatus(try await inviter.view(name)) }
    }

    func admit(_ request: AdmissionRequest, to invitation: String) async throws -> InvitationStatus {
        try await answering { InvitationStatus(try await inviter.admit(request.deviceID, to: invitation)) }
    }

    func withdrawInvitation(_ name: String) async throws -> InvitationStatus {
        try await answering { InvitationStatus(try await inviter.withdraw(name)) }
    }

    func join(_ request: JoinRequest) async throws -> JoinStatus {
        let code: InvitationCode
        do throws(CodeFault) { code = try InvitationCode(request.code) } catch {
            throw APIError(.invalidValue, error.sentence)
        }
        try await answering {
            guard fleet.membership == nil else { throw FleetIdentity.Fault.enrolled }
            await joiner.join(by: code)
        }
        return try await joinStatus()
    }

    func joinStatus() async throws -> JoinStatus {
        var status = JoinStatus(state: .idle, keyWords: KeyWords.of(fleet.publicKey))
        switch await joiner.progress {
        case .nothing: break
        case .searching: status.state = .searching
        case .waiting(let inviter): (status.state, status.inviter) = (.waiting, inviter)
        // Who has left since then has not joined.
        case .joined: status.state = fleet.membership == nil ? .idle : .joined
        case .failed(let failure): (status.state, status.reason) = (.failed, failure.sentence)
        }
        return status
    }

    func endJoin() async throws -> JoinStatus {
        await joiner.cancel()
        return try await joinStatus()
    }
}

extension InvitationStatus {
    fileprivate init(_ view: InvitationView) {
        self.init(name: view.code.name, role: view.role.rawValue, secondsLeft: Int(view.remaining / 1_000))
        newcomer = view.newcomer.map {
            Newcomer(
                deviceID: $0.key.device.description, name: $0.name, keyWords: KeyWords.of($0.key), address: $0.remote)
        }
        if view.isAdmitted {
            state = .admitted
        } else if let end = view.end {
            (state, reason) = (.ended, end.sentence)
        } else if view.newcomer != nil {
            state = .waiting
        }
    }
}

extension FleetRole {
    /// As people and scripts write it.
    init(named name: String) throws(APIError) {
        guard let role = FleetRole(rawValue: name) else {
            let roles = FleetRole.allCases.map(\.rawValue).joined(separator: ", ")
            throw APIError(.invalidValue, "'\(name)' is no role; use one of \(roles).")
        }
        self = role
    }
}
