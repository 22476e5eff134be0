import Identity
import Simulation
import Testing

@testable import ChannelServer

@Suite("What the server's people are told of its place in the fleet")
struct IdentityWatchTests {
    private let fleet: TestFleet
    private let key = DeviceKey()

    init() throws {
        fleet = try TestFleet()
    }

    private func trouble(on day: Int64, revoking: [DeviceKey] = [], issuer: Bool = false) async throws -> String? {
        let chain = try fleet.chain(key, as: .server)
        let found = await fleet.trust.letIn(key.publicKey.bytes, by: chain, now: .since(0))
        let member = try #require(found)
        var revocations = try revoking.map { try fleet.revocation(of: $0.publicKey.device) }
        if issuer { revocations.append(try fleet.revocation(of: fleet.issuer.certificate.key.device)) }
        return IdentityWatch.trouble(
            of: member, revocations: RevocationLog().adding(revocations),
            now: TestFleet.today + day * TestFleet.day)
    }

    @Test("Nothing while all is well, and of others' revocations")
    func well() async throws {
        #expect(try await trouble(on: 1) == nil)
        #expect(try await trouble(on: 339, revoking: [DeviceKey()]) == nil)
        #expect(IdentityWatch.trouble(of: nil, revocations: RevocationLog(), now: 0) == nil)
    }

    @Test("The end of its certificate, from two months before", arguments: [341, 399, 401, 5_000] as [Int64])
    func end(day: Int64) async throws {
        #expect(try await trouble(on: day)?.contains("certificate ends on 2027-12-30") == true)
    }

    @Test("A clock by which its certificate does not hold yet", arguments: [-1, -20_000] as [Int64])
    func young(day: Int64) async throws {
        #expect(try await trouble(on: day)?.contains("set the clock") == true)
    }

    @Test("Its own revocation, and that of who let it in")
    func revoked() async throws {
        #expect(try await trouble(on: 1, revoking: [key])?.contains("key was revoked") == true)
        #expect(try await trouble(on: 1, issuer: true)?.contains("who let this server in was revoked") == true)
    }
}
