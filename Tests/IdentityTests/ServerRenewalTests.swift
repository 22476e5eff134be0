import CRDT
import Simulation
import Testing

@testable import Identity

/// What a server has signed prolongs what an issuer has given, and nothing else: the server stands in the internet.
@Suite("Renewal by a server", .timeLimit(.minutes(1)))
struct ServerRenewalTests {
    private static let day = TestFleet.day

    private let fleet: TestFleet
    private let dora = DeviceKey()
    private let former: [[UInt8]]
    private let server = DeviceKey()
    private let serverChain: [[UInt8]]

    init() throws {
        fleet = try TestFleet()
        former = try fleet.chain(dora, as: .lead)
        serverChain = try fleet.chain(server, as: .server)
    }

    /// What is shown with a renewal.
    private func shown(
        _ renewal: FleetCertificate, _ former: [[UInt8]]? = nil, by chain: [[UInt8]]? = nil
    ) -> [[UInt8]] {
        [renewal.bytes] + (former ?? self.former) + (chain ?? serverChain)
    }

    /// What an honest server makes of a chain.
    private func renewal(of chain: [[UInt8]]? = nil, on day: Int64 = 80) async throws -> FleetCertificate {
        let now = TestFleet.today + day * Self.day
        let member = try await fleet.trust.judgeRenewal(
            chain ?? former, now: TimeBounds(now, within: 0), revocations: RevocationLog())
        return try CertificateAuthority.renewal(
            of: member, by: FleetCertificate(serverChain[0]), key: server, fleet: fleet.trust.root.key, now: now)
    }

    /// What a thief makes with a key: nobody keeps it from signing anything.
    private func forged(
        of key: DevicePublicKey? = nil, as role: FleetRole = .lead, kind: CertificateKind = .renewal,
        days: ClosedRange<Int64> = 80...125, by chain: [[UInt8]]? = nil, with signer: DeviceKey? = nil
    ) throws -> FleetCertificate {
        let (key, server) = (key ?? dora.publicKey, try FleetCertificate((chain ?? serverChain)[0]))
        return try CertificateAuthority.signed(
            FleetSubject(kind, of: key, fleet: fleet.trust.root.key, role: role), of: key,
            from: TestFleet.today + days.lowerBound * Self.day, until: TestFleet.today + days.upperBound * Self.day,
            under: kind == .renewal
                ? FleetSubject.renewer(server, of: fleet.trust.root.key)
                : FleetSubject(.laptop, of: server.key, fleet: fleet.trust.root.key, role: server.role).name,
            by: signer ?? self.server)
    }

    private func judge(
        _ chain: [[UInt8]], on day: Int64 = 100, revoked: [DevicePublicKey] = []
    ) async throws -> FleetMember {
        let log = RevocationLog().adding(try revoked.map { try fleet.revocation(of: $0.device) })
        let now = TimeBounds(TestFleet.today + day * Self.day, within: 0)
        let known = try? await fleet.trust.judgeRenewal(chain, now: now, revocations: log)
        do throws(FleetTrust.Refusal) {
            let member = try await fleet.trust.judge(chain, now: now, revocations: log)
            #expect(known == member)
            return member
        } catch {
            // Who was let in once may be renewed, and nobody else.
            #expect((known != nil) == [.ranOut, .tooYoung].contains(error))
            throw error
        }
    }

    @Test(
        "It prolongs a certificate by 45 days, with 45 of grace, and says nothing else of its owner",
        arguments: [5, 80, 300])
    func prolongs(day: Int64) async throws {
        let chain = shown(try await renewal(on: day))
        let member = try await judge(chain, on: day + 44)
        #expect(member.key == dora.publicKey && member.role == .lead && member.standing == .valid)
        #expect(member.issuer == fleet.issuer.certificate.key, "the issuer has let it in")
        #expect(member.validUntil == TestFleet.today + (day + 45) * Self.day)
        #expect(member.signedAfter == (try FleetCertificate(former[0]).notBefore), "no server's word of the time")
        #expect(try await judge(chain, on: day + 46).standing == .grace)
        await #expect(throws: FleetTrust.Refusal.ranOut) { try await judge(chain, on: day + 91) }
        // So it is the renewal.
        if day > 50 { await #expect(throws: FleetTrust.Refusal.ranOut) { try await judge(former, on: day + 44) } }
    }

    @Test("One after the other, each of the same certificate, by which an issuer renews it, too")
    func again() async throws {
        let second = try await renewal(of: shown(try await renewal()), on: 120)
        #expect(try await judge(shown(second), on: 164).standing == .valid)
        #expect(await fleet.trust.letIn(dora.publicKey.bytes, by: former, now: .since(0))?.role == .lead)
        #expect(await fleet.trust.letIn(dora.publicKey.bytes, by: shown(second), now: .since(0)) == nil)
        await #expect(throws: FleetTrust.Refusal.self) {
            try await judge([second.bytes, try await renewal().bytes, serverChain[0]] + serverChain)
        }
    }

    @Test("Nobody gets in by a server's key: no stranger, no higher or lower role, nobody longer than the server")
    func thief() async throws {
        let stranger = DeviceKey()
        let tooLong = try forged(days: 80...500)
        for chain in [
            // Before a certificate that everybody has seen.
            shown(try forged(of: stranger.publicKey)), shown(try forged(as: .office)), shown(try forged(as: .member)),
            shown(try forged(as: .server)), shown(try forged(kind: .laptop)), shown(try forged(kind: .issuer)),
            shown(tooLong), shown(try forged(days: -30...125)),
            // A certificate of its own making in the place of an issuer's.
            shown(
                try forged(of: stranger.publicKey),
                [try forged(of: stranger.publicKey, kind: .laptop).bytes, serverChain[0]]),
            [try forged(of: stranger.publicKey).bytes], [try forged(of: stranger.publicKey).bytes, serverChain[0]],
            [try forged(of: stranger.publicKey).bytes] + serverChain,
            [try forged(of: stranger.publicKey, kind: .laptop).bytes] + serverChain,
            [try forged(of: stranger.publicKey, kind: .laptop, days: 90...110).bytes, serverChain[0]],
            [try forged(of: stranger.publicKey, kind: .issuer).bytes] + serverChain,
        ] {
            let refusal = await #expect(throws: FleetTrust.Refusal.self) { try await judge(chain) }
            #expect(refusal != .ranOut && refusal != .tooYoung)
        }
        let leaf = try FleetCertificate(serverChain[0])
        #expect(throws: CertificateAuthority.Refusal.otherKind) {
            try CertificateAuthority(leaf, key: server, fleet: fleet.trust.root.key)
        }
        // What he can do: the same as any issuer for whoever asks.
        #expect(try await judge(shown(try forged())).role == .lead)
    }

    @Test("Nobody but a server of the fleet prolongs anything", arguments: FleetRole.allCases)
    func signers(role: FleetRole) async throws {
        let (key, other) = (DeviceKey(), try TestFleet())
        let chain = try fleet.chain(key, as: role)
        let renewed = shown(try forged(by: chain, with: key), by: chain)
        if role == .server {
            #expect(try await judge(renewed).standing == .valid)
        } else {
            await #expect(throws: FleetTrust.Refusal.notAllowed) { try await judge(renewed) }
        }
        // Signed by another key, or under another name.
        for wrong in [try forged(with: key), try forged(by: chain, with: server), try forged(with: dora)] {
            await #expect(throws: FleetTrust.Refusal.notAllowed) { try await judge(shown(wrong)) }
        }
        let foreign = try other.chain(key, as: role)
        let strange = shown(try forged(by: foreign, with: key), by: foreign)
        await #expect(throws: FleetTrust.Refusal.notAllowed) { try await judge(strange) }
        let (issuer, root) = (fleet.issuer.certificate.bytes, fleet.root.certificate.bytes)
        await #expect(throws: FleetTrust.Refusal.notAllowed) {
            try await judge(shown(try await renewal(), by: [issuer, root]))
        }
    }

    @Test(
        "A server and a proxy are not prolonged, neither by themselves nor by another server",
        arguments: [FleetRole.server, .proxy])
    func servers(role: FleetRole) async throws {
        let other = DeviceKey()
        let chain = try fleet.chain(other, as: role)
        let member = try await fleet.trust.judge(
            chain, now: .since(TestFleet.today), revocations: RevocationLog())
        #expect(throws: CertificateAuthority.Refusal.otherKind) {
            try CertificateAuthority.renewal(
                of: member, by: FleetCertificate(serverChain[0]), key: server, fleet: fleet.trust.root.key,
                now: TestFleet.today + Self.day)
        }
        for (key, its) in [(other, chain), (server, serverChain)] {
            let forged = try forged(of: key.publicKey, as: try FleetCertificate(its[0]).role)
            await #expect(throws: FleetTrust.Refusal.notAllowed) { try await judge(shown(forged, its)) }
        }
    }

    /// Beside the fleet's usual one.
    private func anotherIssuer(_ key: DeviceKey) throws -> CertificateAuthority {
        try CertificateAuthority(
            fleet.root.issue(.issuer, to: key.publicKey, as: .office, now: TestFleet.today), key: key,
            fleet: fleet.trust.root.key)
    }

    @Test("A revoked laptop, and one whose issuer was revoked, are out with a renewal as without")
    func revoked() async throws {
        let key = DeviceKey()
        let second = try anotherIssuer(key)
        let leaf = try second.issue(.laptop, to: dora.publicKey, as: .lead, now: TestFleet.today)
        let bySecond = shown(try await renewal(), [leaf.bytes, second.certificate.bytes])
        #expect(try await judge(bySecond).issuer == key.publicKey)
        for (chain, gone) in [
            (shown(try await renewal()), dora.publicKey), (bySecond, key.publicKey), (bySecond, dora.publicKey),
        ] {
            await #expect(throws: FleetTrust.Refusal.revoked) { try await judge(chain, revoked: [gone]) }
            await #expect(throws: FleetTrust.Refusal.revoked) {
                try await judge(chain, revoked: [gone, server.publicKey])
            }
        }
    }

    @Test("What a server has signed that was revoked, or whose issuer was, is as if it were not there")
    func revokedServer() async throws {
        let key = DeviceKey()
        let second = try anotherIssuer(key)
        let its = try second.issue(.laptop, to: server.publicKey, as: .server, now: TestFleet.today)
        let chain = [its.bytes, second.certificate.bytes]
        let renewed = shown(try forged(by: chain), by: chain)
        #expect(try await judge(renewed).standing == .valid)
        for gone in [server.publicKey, key.publicKey] {
            await #expect(throws: FleetTrust.Refusal.ranOut) { try await judge(renewed, revoked: [gone]) }
            #expect(try await judge(renewed, on: 81, revoked: [gone]).validUntil == TestFleet.today + 45 * Self.day)
            // It is still the key that an issuer has let in, or nobody's.
            let stranger = shown(try forged(of: DeviceKey().publicKey, by: chain), by: chain)
            await #expect(throws: FleetTrust.Refusal.notAllowed) { try await judge(stranger, revoked: [gone]) }
            let raised = shown(try forged(as: .office, by: chain), by: chain)
            await #expect(throws: FleetTrust.Refusal.notAllowed) { try await judge(raised, revoked: [gone]) }
        }
    }

    @Test("One that does not hold yet does not count yet, and shortens nothing")
    func tooYoung() async throws {
        let early = shown(try forged(days: 80...125))
        #expect(try await judge(early, on: 70).validUntil == TestFleet.today + 45 * Self.day)
        await #expect(throws: FleetTrust.Refusal.tooYoung) { try await judge(early, on: -1) }
        let short = shown(try forged(days: 1...10))
        #expect(try await judge(short, on: 20).validUntil == TestFleet.today + 45 * Self.day)
        // Who does not know the time gives the benefit of the doubt.
        let unsure = try await fleet.trust.judge(early, now: .since(0), revocations: RevocationLog())
        #expect(unsure.validUntil == TestFleet.today + 125 * Self.day)
    }

    @Test("A server's renewals end with its own certificate, and then there are no new ones")
    func serversEnd() async throws {
        let own = try FleetCertificate(serverChain[0])
        #expect(try await renewal(on: 390).notAfter == own.notAfter)
        for day in [-1, 400] as [Int64] {
            await #expect(throws: CertificateAuthority.Refusal.ranOut) { try await renewal(on: day) }
        }
        let member = try await judge(former, on: 1)
        #expect(throws: CertificateAuthority.Refusal.otherKey) {
            try CertificateAuthority.renewal(
                of: member, by: own, key: dora, fleet: fleet.trust.root.key, now: TestFleet.today)
        }
        #expect(throws: CertificateAuthority.Refusal.otherKind) {
            try CertificateAuthority.renewal(
                of: member, by: FleetCertificate(former[0]), key: dora, fleet: fleet.trust.root.key,
                now: TestFleet.today)
        }
    }

    @Test("Of the five none may lack, and none may have changed")
    func whole() async throws {
        let chain = shown(try await renewal())
        for index in chain.indices {
            var cut = chain
            cut.remove(at: index)
            await #expect(throws: FleetTrust.Refusal.self, "without \(index)") { try await judge(cut) }
            for byte in stride(from: 0, to: chain[index].count, by: 37) {
                var changed = chain
                changed[index][byte] ^= 1 << UInt8(byte % 8)
                await #expect(throws: FleetTrust.Refusal.self, "byte \(byte) of \(index)") { try await judge(changed) }
            }
        }
        for wrong in [
            chain + [fleet.root.certificate.bytes], chain.reversed(), [chain[0]] + serverChain + former,
            former + [chain[0]] + serverChain,
        ] {
            await #expect(throws: FleetTrust.Refusal.self) { try await judge(wrong) }
        }
    }
}
