import CRDT
import Simulation
import Testing

@testable import Identity

@Suite("Renewal", .timeLimit(.minutes(1)))
struct RenewalTests {
    private let fleet: TestFleet
    private let tom = DeviceKey()

    init() throws {
        fleet = try TestFleet()
    }

    private func on(_ day: Int64) -> TimeBounds { TimeBounds(TestFleet.today + day * TestFleet.day, within: 0) }

    @Test(
        "However late it is, a chain that was good once is known again, and lets nobody in",
        arguments: [0, 91, 399, 4_000])
    func late(day: Int64) async throws {
        let chain = try fleet.chain(tom, as: .lead)
        let member = try await fleet.trust.judgeRenewal(chain, now: on(day), revocations: RevocationLog())
        #expect(member.key == tom.publicKey && member.role == .lead)
        #expect(member.validUntil == TestFleet.today + 45 * TestFleet.day)
        if day > 90 {
            await #expect(throws: FleetTrust.Refusal.ranOut) {
                _ = try await fleet.trust.judge(chain, now: on(day), revocations: RevocationLog())
            }
        }
    }

    @Test("A chain that was never good, and a revoked key, are not known again")
    func never() async throws {
        let strange = try TestFleet().chain(tom)
        await #expect(throws: FleetTrust.Refusal.otherFleet) {
            _ = try await fleet.trust.judgeRenewal(strange, now: on(1), revocations: RevocationLog())
        }
        let newcomer = [try CertificateAuthority.makeNewcomer(tom).bytes]
        await #expect(throws: FleetTrust.Refusal.newcomer) {
            _ = try await fleet.trust.judgeRenewal(newcomer, now: on(1), revocations: RevocationLog())
        }
        let leaf = try FleetCertificate(fleet.chain(tom)[0])
        await #expect(throws: (any Error).self, "a laptop that has issued") {
            _ = try await fleet.trust.judgeRenewal(
                [leaf.bytes, leaf.bytes], now: on(1), revocations: RevocationLog())
        }
        var log = RevocationLog()
        let key = DeviceKey()
        let issuer = try fleet.root.issue(.issuer, to: key.publicKey, as: .lead, now: TestFleet.today)
        #expect(
            log.add(
                try Revocation(
                    of: tom.publicKey.device, by: issuer, key: key, fleet: fleet.trust.root.key, now: TestFleet.today)))
        await #expect(throws: FleetTrust.Refusal.revoked) {
            _ = try await fleet.trust.judgeRenewal(try fleet.chain(tom), now: on(1), revocations: log)
        }
    }

    @Test("An issuer that does not know the time signs as past only what certainly is")
    func certain() throws {
        let now = TestFleet.today + 100 * TestFleet.day
        let guessed = try fleet.issuer.issue(
            .laptop, to: tom.publicKey, as: .member, now: now, certain: TestFleet.today)
        #expect(guessed.notBefore <= TestFleet.today && guessed.notAfter == now + 45 * TestFleet.day)
        let known = try fleet.issuer.issue(.laptop, to: tom.publicKey, as: .member, now: now, certain: now - 1_000)
        #expect(known.notBefore > now - TestFleet.day && known.notBefore < now)
    }
}
