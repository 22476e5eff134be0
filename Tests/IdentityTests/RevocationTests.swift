import CRDT
import Simulation
import Testing

@testable import Identity

@Suite("Revocations", .timeLimit(.minutes(1)))
struct RevocationTests {
    private let fleet: TestFleet
    private let issuerKey = DeviceKey()
    private let issuer: FleetCertificate
    private let tom = DeviceKey()

    init() throws {
        fleet = try TestFleet()
        issuer = try fleet.root.issue(.issuer, to: issuerKey.publicKey, as: .lead, now: TestFleet.today)
    }

    private func revocation(
        of device: DeviceID? = nil, by signer: FleetCertificate? = nil, key: DeviceKey? = nil, day: Int64 = 1,
        in other: TestFleet? = nil
    ) throws -> Revocation {
        try Revocation(
            of: device ?? tom.publicKey.device, by: signer ?? issuer, key: key ?? issuerKey,
            fleet: (other ?? fleet).trust.root.key, now: TestFleet.today + day * TestFleet.day)
    }

    @Test("One that an issuer has signed is read as it was, also after the issuer's certificate has run out")
    func read() async throws {
        let made = try revocation(day: 3)
        let read = try Revocation(made.bytes)
        #expect(read == made && read.device == tom.publicKey.device)
        #expect(read.time == TestFleet.today + 3 * TestFleet.day)
        #expect(await read.isSigned(in: fleet.trust))
        #expect(try Revocation.all(inPEM: made.pem + made.pem) == [made, made])
        let late = try revocation(day: 3_000)
        #expect(late.time == issuer.notAfter, "a wrong clock does not make one that nobody believes")
        #expect(await late.isSigned(in: fleet.trust))
    }

    @Test("The root may sign one itself, and nobody in its name")
    func root() async throws {
        let code = RecoveryCode()
        let key = try #require(code.rootKey)
        let root = try CertificateAuthority.makeRoot(key, now: TestFleet.today).certificate
        let trust = try #require(FleetTrust(root: root))
        let device = tom.publicKey.device
        let signed = try Revocation(of: device, by: root, key: key, fleet: root.key, now: TestFleet.today)
        #expect(await signed.isSigned(in: trust))
        let forged = try Revocation(of: device, by: root, key: DeviceKey(), fleet: root.key, now: TestFleet.today)
        #expect(await !forged.isSigned(in: trust))
    }

    @Test("Who may not issue may not revoke")
    func strangers() async throws {
        let member = try FleetCertificate(fleet.chain(tom)[0])
        let own = try revocation(of: issuerKey.publicKey.device, by: member, key: tom)
        #expect(await !own.isSigned(in: fleet.trust), "a member")
        let stolen = try revocation(key: tom)
        #expect(await !stolen.isSigned(in: fleet.trust), "a member with the issuer's certificate")
        let other = try TestFleet()
        let key = DeviceKey()
        let foreign = try other.root.issue(.issuer, to: key.publicKey, as: .office, now: TestFleet.today)
        #expect(await !(try revocation(by: foreign, key: key)).isSigned(in: fleet.trust), "another fleet's issuer")
        #expect(await !(try revocation(in: other)).isSigned(in: fleet.trust), "signed for another fleet")
        let self_ = try CertificateAuthority.makeRoot(key, now: TestFleet.today).certificate
        #expect(await !(try revocation(by: self_, key: key)).isSigned(in: fleet.trust), "a root of its own")
    }

    @Test("A changed byte makes it worthless or unreadable")
    func changed() async throws {
        let bytes = try revocation().bytes
        for place in 0..<105 {
            var changed = bytes
            changed[place] ^= 1
            guard let read = try? Revocation(changed) else { continue }
            #expect(await !read.isSigned(in: fleet.trust), "byte \(place)")
        }
        for broken in [[], Array(bytes[..<105]), bytes + [0], [UInt8](repeating: 1, count: 4_097)] {
            #expect(throws: Revocation.Refusal.unreadable) { _ = try Revocation(broken) }
        }
        #expect(throws: Revocation.Refusal.unreadable) { _ = try Revocation.all(inPEM: issuer.pem) }
    }

    @Test("Logs that have heard the same in any order are equal, and keep the earliest of one device")
    func converge() throws {
        let early = try revocation(day: 1)
        let late = try revocation(day: 2)
        let other = try revocation(of: DeviceKey().publicKey.device)
        var (one, two) = (RevocationLog(), RevocationLog())
        for revocation in [early, late, other] { _ = one.add(revocation) }
        #expect([other, late, early, late].map { two.add($0) } == [true, true, true, false])
        #expect(one.all == two.all && one.fingerprint == two.fingerprint)
        #expect(one.all.count == 2 && one[early.device] == early)
        #expect(one.fingerprint != 0 && one.contains(other.device))
        var three = RevocationLog()
        _ = three.add(late)
        #expect(three.fingerprint != one.fingerprint)
    }

    @Test("A certificate of a revoked key lets nobody in, however it is issued or encoded, nor one by a revoked issuer")
    func shutOut() async throws {
        var log = RevocationLog()
        let now = TimeBounds(TestFleet.today, within: 0)
        let authority = try CertificateAuthority(issuer, key: issuerKey, fleet: fleet.trust.root.key)
        func chain(_ key: DeviceKey, on day: Int64 = 0) throws -> [[UInt8]] {
            let leaf = try authority.issue(
                .laptop, to: key.publicKey, as: .member, now: TestFleet.today + day * TestFleet.day)
            return [leaf.bytes, issuer.bytes]
        }
        let lea = DeviceKey()
        #expect(try await fleet.trust.judge(chain(tom), now: now, revocations: log).key == tom.publicKey)
        #expect(log.add(try revocation()))
        for shown in [try chain(tom), try chain(tom), try fleet.chain(tom, as: .reader)] {
            await #expect(throws: FleetTrust.Refusal.revoked) {
                _ = try await fleet.trust.judge(shown, now: now, revocations: log)
            }
        }
        #expect(try await fleet.trust.judge(chain(lea), now: now, revocations: log).key == lea.publicKey)
        #expect(log.add(try revocation(of: issuerKey.publicKey.device)))
        await #expect(throws: FleetTrust.Refusal.revoked) {
            _ = try await fleet.trust.judge(chain(lea), now: now, revocations: log)
        }
        #expect(try await fleet.trust.judge(fleet.chain(lea), now: now, revocations: log).key == lea.publicKey)
    }
}
