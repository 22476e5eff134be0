import CRDT
import Enrolment
import FleetTLS
import Identity
import LocalAPI
import Replication
import Testing
import Transport
import WireFormat

@testable import Node

/// A laptop that may let others in, over its own port, and those who come with the code.
@Suite("Whom an invitation lets in", .timeLimit(.minutes(1)))
struct InvitationRoleTests {
    /// Joins, and says yes whenever the device waits for it.
    ///
    /// - Returns: why not; nil when it was let in.
    private func join(
        _ device: TestNewcomer, by code: String, at address: PeerAddress, of inviter: InventoryService
    ) async throws -> String? {
        let joiner = Joiner(device, addresses: { [address] }, hostName: "tom", logger: silent)
        await joiner.join(by: try InvitationCode(code))
        for await step in joiner.steps {
            switch step {
            case .nothing, .searching: break
            case .waiting(let name):
                #expect(name == "anna")
                let request = AdmissionRequest(deviceID: device.key.publicKey.device.description)
                _ = try await inviter.admit(request, to: String(code.prefix(4)))
            case .joined: return nil
            case .failed(let failure): return failure.sentence
            }
        }
        return "It was given up."
    }

    @Test(
        "A laptop joins by an invitation for laptops and the server by one for servers, and neither by the other's",
        arguments: [FleetRole.reader, .member, .lead, .office, .server])
    func kinds(role: FleetRole) async throws {
        try await withInviter { inviter, _, address in
            let opened = try await inviter.openInvitation(InvitationRequest(role: role.rawValue))
            let code = try #require(opened.code)
            let other = TestNewcomer(isServer: role.isLaptops)
            let refusal = try await join(other, by: code, at: address, of: inviter)
            #expect(refusal?.contains(role.isLaptops ? "this is a server" : "this is a laptop") == true)
            #expect(other.papers == [])
            #expect(try await inviter.invitation(opened.name).state == .unused, "that has cost nothing")
            let meant = TestNewcomer(isServer: !role.isLaptops)
            #expect(try await join(meant, by: code, at: address, of: inviter) == nil)
            let certificate = try #require(try FleetCertificate.all(inPEM: meant.papers.joined()).first)
            #expect(certificate.role == role && certificate.key == meant.key.publicKey)
        }
    }

    @Test("Whose key is known as a laptop's does not become the server, and the server no laptop, whatever they say")
    func knownKeys() async throws {
        try await withInviter { inviter, _, address in
            for (first, second) in [(FleetRole.member, FleetRole.server), (.server, .member)] {
                let key = DeviceKey()
                var code = try #require(try await inviter.openInvitation(InvitationRequest(role: first.rawValue)).code)
                let honest = TestNewcomer(key, isServer: first == .server)
                #expect(try await join(honest, by: code, at: address, of: inviter) == nil)
                code = try #require(try await inviter.openInvitation(InvitationRequest(role: second.rawValue)).code)
                let liar = TestNewcomer(key, isServer: second == .server)
                #expect(try await join(liar, by: code, at: address, of: inviter) != nil && liar.papers == [])
            }
        }
    }

    @Test(
        "The inviter asks nobody for a proof who shows that they are of the other kind, whatever they would prove",
        arguments: [
            (FleetRole.server, FleetRole.reader), (.server, .office), (.server, .proxy), (.member, .server),
            (.office, .proxy),
        ])
    func ownWord(invited: FleetRole, shown: FleetRole) async throws {
        try await withInviter { inviter, _, address in
            let opened = try await inviter.openInvitation(InvitationRequest(role: invited.rawValue))
            let key = DeviceKey()
            let newcomer = FleetCredentials(
                certificates: [try CertificateAuthority.makeNewcomer(key, as: shown).bytes], key: key.pem)
            let connection = try await EnrolmentDialler().dial(address, showing: newcomer, accepts: { _ in true })
            connection.send(.ask(invitation: opened.name, name: "tom"))
            #expect(await connection.next(within: .seconds(5)) == .refusal(.otherKind))
            #expect(try await inviter.invitation(opened.name).state == .unused)
        }
    }

    @Test("Who was shut out uses no invitation up, whatever it would prove")
    func revoked() async throws {
        try await withInviter { inviter, _, address in
            let key = DeviceKey()
            let outcast = TestNewcomer(key, isServer: false)
            var code = try #require(try await inviter.openInvitation(InvitationRequest(role: "member")).code)
            #expect(try await join(outcast, by: code, at: address, of: inviter) == nil)
            _ = try await inviter.revoke(RevocationRequest(device: key.publicKey.device.description))
            let opened = try await inviter.openInvitation(InvitationRequest(role: "member"))
            code = try #require(opened.code)
            let reason = try await join(outcast, by: code, at: address, of: inviter)
            #expect(reason?.contains("muster fleet leave") == true)
            #expect(try await inviter.invitation(opened.name).state == .unused)
        }
    }

    @Test("As many are open at once as a crew needs, and one that is taken back makes room")
    func most() async throws {
        try await withInviter { inviter, _, _ in
            var last = ""
            for _ in 0..<16 { last = try await inviter.openInvitation(InvitationRequest(role: "member")).name }
            let problem = await #expect(throws: APIError.self) {
                _ = try await inviter.openInvitation(InvitationRequest(role: "member"))
            }
            #expect(problem?.message.contains("16 invitations are open") == true)
            _ = try await inviter.withdrawInvitation(last)
            _ = try await inviter.openInvitation(InvitationRequest(role: "member"))
        }
    }

    @Test("Only the office invites a server, and nobody a proxy")
    func rights() async throws {
        try await withInviter(.lead) { inviter, _, _ in
            let problem = await #expect(throws: APIError.self) {
                _ = try await inviter.openInvitation(InvitationRequest(role: "server"))
            }
            #expect(problem?.message.contains("ask the office") == true)
        }
        try await withInviter { inviter, _, _ in
            let problem = await #expect(throws: APIError.self) {
                _ = try await inviter.openInvitation(InvitationRequest(role: "proxy"))
            }
            #expect(problem?.message.contains("by file") == true)
        }
    }
}
