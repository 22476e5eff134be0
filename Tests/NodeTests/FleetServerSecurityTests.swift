import FleetTLS
import Identity
import ServerChannel
import Simulation
import Testing
import Transport

@testable import Node

@Suite("Whom a laptop takes for the server")
struct FleetServerSecurityTests {
    private let fleet: TestFleet
    private let laptop: FleetIdentity

    init() async throws {
        fleet = try TestFleet()
        let key = DeviceKey()
        laptop = FleetIdentity(key: key)
        try await laptop.install(fleet.papers(SigningRequest(key).pem, as: .member))
    }

    private func refusal(of chain: [[UInt8]]) async -> String? {
        do throws(NotTheServer) {
            try await laptop.admitServer(chain)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("A server of the fleet and its proxy", arguments: [FleetRole.server, .proxy])
    func admitted(role: FleetRole) async throws {
        #expect(await refusal(of: try fleet.chain(DeviceKey(), as: role)) == nil)
    }

    @Test("No laptop, whatever it may do", arguments: [FleetRole.reader, .member, .lead, .office])
    func laptops(role: FleetRole) async throws {
        let chain = try fleet.chain(DeviceKey(), as: role)
        #expect(await refusal(of: chain)?.contains("says it is the server") == true)
    }

    @Test("Nobody of another fleet, or without an issuer, or who was revoked")
    func others() async throws {
        let key = DeviceKey()
        let chain = try fleet.chain(key, as: .server)
        for wrong in [try TestFleet().chain(key, as: .server), [chain[0]], [], chain.reversed()] {
            #expect(await refusal(of: wrong)?.contains("nobody of this fleet") == true)
        }
        _ = try await laptop.learnRevocations([fleet.revocation(of: key.publicKey.device).bytes])
        #expect(await refusal(of: chain)?.contains("revoked") == true)
        #expect(await refusal(of: try fleet.chain(DeviceKey(), as: .server)) == nil, "another one is")
    }

    @Test("A laptop without a fleet has no server")
    func noFleet() async throws {
        let alone = FleetIdentity()
        await #expect(throws: NotTheServer.self) {
            try await alone.admitServer(fleet.chain(DeviceKey(), as: .server))
        }
        #expect(alone.credentials == nil)
    }

    @Test("A server is no laptop to meet", arguments: [FleetRole.server, .proxy])
    func peers(role: FleetRole) async throws {
        await #expect(throws: LinkRefusal.self) { try await laptop.admit(fleet.chain(DeviceKey(), as: role)) }
        let member = DeviceKey()
        #expect(try await laptop.admit(fleet.chain(member)) == member.publicKey.device)
    }
}
