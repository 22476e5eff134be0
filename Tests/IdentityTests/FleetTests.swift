import CRDT
import Foundation
import Simulation
import Testing

@testable import Identity

extension TestFleet {
    func judge(_ chain: [[UInt8]], on day: Int64, plusOrMinus days: Int64 = 0) async throws -> FleetMember {
        try await trust.judge(
            chain, now: TimeBounds(Self.today + day * Self.day, within: days * Self.day), revocations: RevocationLog())
    }
}

@Suite("Certificates of a fleet", .timeLimit(.minutes(1)))
struct FleetTests {
    @Test("A laptop that an issuer has let in belongs to the fleet, with its role", arguments: FleetRole.allCases)
    func member(role: FleetRole) async throws {
        let fleet = try TestFleet()
        let key = DeviceKey()
        let member = try await fleet.judge(fleet.chain(key, as: role), on: 1)
        #expect(member.key == key.publicKey && member.role == role && member.standing == .valid)
        #expect(member.issuer == fleet.issuer.certificate.key)
    }

    @Test("The root may stand behind a chain, and nobody else")
    func rootBehind() async throws {
        let (fleet, other) = (try TestFleet(), try TestFleet())
        let chain = try fleet.chain(DeviceKey())
        let root = fleet.root.certificate.bytes
        #expect(try await fleet.judge(chain + [root], on: 1).standing == .valid)
        for wrong in [
            [root] + chain, chain + [chain[1]], chain + [other.root.certificate.bytes], chain + [root, root],
        ] {
            await #expect(throws: FleetTrust.Refusal.length(wrong.count)) { try await fleet.judge(wrong, on: 1) }
        }
    }

    @Test("45 days valid, 45 more of grace, then over", arguments: [44, 46, 89] as [Int64])
    func validity(day: Int64) async throws {
        let fleet = try TestFleet()
        let chain = try fleet.chain(DeviceKey())
        #expect(try await fleet.judge(chain, on: day).standing == (day < 45 ? .valid : .grace))
        await #expect(throws: FleetTrust.Refusal.ranOut) { try await fleet.judge(chain, on: 91) }
    }

    /// X509 asserts that a minute has no second 61, so a stranger who shows it would end a daemon that was built with assertions.
    @Test("A certificate that begins or ends in a leap second is none", arguments: [0, 1], [60, 61])
    func leapSecond(time: Int, second: Int) throws {
        var bytes = try CertificateAuthority.makeRoot(DeviceKey(), now: TestFleet.today).certificate.bytes
        // UTCTime of 13 characters, or GeneralizedTime of 15, the last of which is Z (X.690 section 11).
        let times = bytes.indices.filter { index in
            let length: [UInt8: Int] = [0x17: 13, 0x18: 15]
            guard let count = length[bytes[index]], bytes.indices.contains(index + 1 + count) else { return false }
            return bytes[index + 1] == count && bytes[index + 1 + count] == UInt8(ascii: "Z")
        }
        let end = times[time] + 1 + Int(bytes[times[time] + 1])
        #expect(throws: Never.self) { try FleetCertificate(bytes) }
        bytes.replaceSubrange(end - 2..<end, with: Array("\(second)".utf8))
        #expect(throws: FleetCertificate.Fault.unreadable) { try FleetCertificate(bytes) }
    }

    @Test("What does not hold yet is told apart from what has run out")
    func tooYoung() async throws {
        let fleet = try TestFleet()
        let chain = try fleet.chain(DeviceKey(), on: 10)
        await #expect(throws: FleetTrust.Refusal.tooYoung) { try await fleet.judge(chain, on: 9) }
        // The issuer's clock goes a few minutes ahead.
        #expect(try await fleet.judge(chain, on: 10).standing == .valid)
    }

    @Test("A laptop that does not know the time gives the benefit of the doubt, but never before what is certain")
    func unknownTime() async throws {
        let fleet = try TestFleet()
        let chain = try fleet.chain(DeviceKey(), on: 100)
        // In 1970, and without any idea.
        #expect(try await fleet.trust.judge(chain, now: .since(0), revocations: RevocationLog()).standing == .valid)
        #expect(try await fleet.judge(chain, on: 0, plusOrMinus: 120).standing == .valid)
        let late = TimeBounds.since(TestFleet.today + 191 * TestFleet.day)
        await #expect(throws: FleetTrust.Refusal.ranOut) {
            try await fleet.trust.judge(chain, now: late, revocations: RevocationLog())
        }
    }

    @Test("Another fleet's laptop is a stranger, whatever it calls itself")
    func otherFleet() async throws {
        let (ours, theirs) = (try TestFleet(), try TestFleet())
        let key = DeviceKey()
        await #expect(throws: FleetTrust.Refusal.otherFleet) { try await ours.judge(theirs.chain(key), on: 1) }
        // Their leaf over our issuer: the issuer is trusted, and has not signed it.
        let mixed = [try theirs.chain(key)[0], ours.issuer.certificate.bytes]
        await #expect(throws: FleetTrust.Refusal.notAllowed) { try await ours.judge(mixed, on: 1) }
    }

    @Test("Whose work a fleet takes: a key's that it has let in at some time, whenever that was")
    func letIn() async throws {
        let (ours, theirs) = (try TestFleet(), try TestFleet())
        let (key, other) = (DeviceKey(), DeviceKey())
        let chain = try ours.chain(key)
        func isLetIn(_ key: DeviceKey, by chain: [[UInt8]], of fleet: TestFleet, day: Int64 = 1) async -> Bool {
            let now = TimeBounds.since(TestFleet.today + day * TestFleet.day)
            return await fleet.trust.letIn(key.publicKey.bytes, by: chain, now: now) != nil
        }
        for day in [-300, 1, 5_000] as [Int64] {
            #expect(await isLetIn(key, by: chain, of: ours, day: day), "day \(day)")
            #expect(await !isLetIn(other, by: chain, of: ours, day: day))
            #expect(await !isLetIn(key, by: chain, of: theirs, day: day))
            #expect(await !isLetIn(key, by: [], of: ours, day: day))
        }
        let acted = try [ours.chain(other)[0], chain[0]]
        #expect(await !isLetIn(other, by: acted, of: ours))
    }

    @Test("Only a server writes channels, and it writes nothing else", arguments: FleetRole.allCases)
    func server(role: FleetRole) async throws {
        let fleet = try TestFleet()
        let key = DeviceKey()
        let chain = try fleet.chain(key, as: role)
        for nonce in [nil, 7] as [UInt128?] {
            let author = try #require(JournalAuthor(key: key.publicKey.bytes, nonce: nonce, certificates: chain))
            let writers: [FleetRole] = nonce == nil ? [.server] : [.member, .lead, .office]
            #expect(await VouchedAuthors().includes(author, in: fleet.trust, now: .since(0)) == writers.contains(role))
            var bare = author
            bare.certificates = []
            #expect(await !VouchedAuthors().includes(bare, in: fleet.trust, now: .since(0)))
        }
    }

    @Test("Only an issuer of the office makes a server, whose certificate holds for 400 days at most")
    func serversIssuer() throws {
        for role in FleetRole.allCases {
            let fleet = try TestFleet(issuerRole: role)
            guard role >= .office else {
                #expect(throws: CertificateAuthority.Refusal.self) { try fleet.chain(DeviceKey(), as: .server) }
                continue
            }
            let certificate = try FleetCertificate(try fleet.chain(DeviceKey(), as: .server, on: -10)[0])
            #expect(certificate.notAfter == TestFleet.today + 390 * TestFleet.day)
        }
    }

    @Test("A laptop that acts as an issuer lets nobody in")
    func memberAsIssuer() async throws {
        let fleet = try TestFleet()
        let (insider, friend) = (DeviceKey(), DeviceKey())
        let own = try FleetCertificate(fleet.chain(insider)[0])
        #expect(throws: CertificateAuthority.Refusal.otherKind) {
            try CertificateAuthority(own, key: insider, fleet: fleet.trust.root.key)
        }
        // What a program without scruples does: an issuer's certificate by its own key, under its laptop's name.
        let forged = try CertificateAuthority.forged(by: insider, fleet: fleet.trust.root.key)
        let leaf = try forged.issue(.laptop, to: friend.publicKey, as: .office, now: TestFleet.today)
        await #expect(throws: FleetTrust.Refusal.otherFleet) {
            try await fleet.judge([leaf.bytes, forged.certificate.bytes], on: 1)
        }
        await #expect(throws: FleetTrust.Refusal.otherFleet) { try await fleet.judge([leaf.bytes, own.bytes], on: 1) }
    }

    @Test("An issuer's own certificate is no laptop's, and the root's neither")
    func issuerAsLaptop() async throws {
        let fleet = try TestFleet()
        let (issuer, root) = (fleet.issuer.certificate.bytes, fleet.root.certificate.bytes)
        for chain in [[issuer, root], [issuer, issuer], [root, root], [issuer], [], [issuer, issuer, root]] {
            await #expect(throws: FleetTrust.Refusal.self) { try await fleet.judge(chain, on: 1) }
        }
    }

    @Test("Nobody makes anybody who may do more than they")
    func roles() async throws {
        let fleet = try TestFleet(issuerRole: .lead)
        #expect(throws: CertificateAuthority.Refusal.roleTooHigh(mine: .lead)) {
            try fleet.chain(DeviceKey(), as: .office)
        }
        #expect(try await fleet.judge(fleet.chain(DeviceKey(), as: .lead), on: 1).role == .lead)
    }

    @Test("Only the root makes issuers, and only issuers make laptops' certificates")
    func kinds() throws {
        let fleet = try TestFleet()
        let key = DeviceKey().publicKey
        #expect(throws: CertificateAuthority.Refusal.otherKind) {
            try fleet.root.issue(.laptop, to: key, as: .member, now: TestFleet.today)
        }
        for kind in [CertificateKind.issuer, .root] {
            #expect(throws: CertificateAuthority.Refusal.otherKind) {
                try fleet.issuer.issue(kind, to: key, as: .member, now: TestFleet.today)
            }
        }
    }

    @Test("A laptop's certificate ends with its issuer's, and then there are no new ones")
    func issuersEnd() async throws {
        let fleet = try TestFleet()
        let last = try FleetCertificate(fleet.chain(DeviceKey(), on: 390)[0])
        #expect(last.notAfter == fleet.issuer.certificate.notAfter)
        #expect(throws: CertificateAuthority.Refusal.ranOut) { try fleet.chain(DeviceKey(), on: 400) }
        let issuer = fleet.issuer.certificate
        #expect(await fleet.trust.isIssuer(issuer, now: .since(TestFleet.today)))
        #expect(await !fleet.trust.isIssuer(issuer, now: .since(TestFleet.today + 401 * TestFleet.day)))
        #expect(try await !TestFleet().trust.isIssuer(issuer, now: .since(TestFleet.today)))
    }

    @Test("Each flipped bit of a certificate is noticed", arguments: [0, 1])
    func flippedBits(place: Int) async throws {
        let fleet = try TestFleet()
        let chain = try fleet.chain(DeviceKey())
        for byte in stride(from: 0, to: chain[place].count, by: 7) {
            var changed = chain
            changed[place][byte] ^= 1 << UInt8(byte % 8)
            await #expect(throws: FleetTrust.Refusal.self, "byte \(byte)") { try await fleet.judge(changed, on: 1) }
        }
    }

    @Test("A root that its own key has not signed founds no fleet")
    func falseRoot() throws {
        let fleet = try TestFleet()
        #expect(FleetTrust(root: fleet.issuer.certificate) == nil)
        var bytes = fleet.root.certificate.bytes
        bytes[bytes.count - 1] ^= 1
        #expect(try FleetTrust(root: FleetCertificate(bytes)) == nil)
    }

    @Test("A request shows its key, and one that was changed on its way does not")
    func request() throws {
        let key = DeviceKey()
        let text = try SigningRequest(key).pem
        #expect(try SigningRequest.key(inPEM: text) == key.publicKey)
        #expect(throws: SigningRequest.Fault.unreadable) { try SigningRequest.key(inPEM: DeviceKey().pem) }
        // The last characters of the body stand for the signature.
        let lines = text.split(separator: "\n").map { String($0) }
        let body = lines[lines.count - 2]
        let index = body.index(body.startIndex, offsetBy: 4)
        let other: Character = body[index] == "A" ? "B" : "A"
        let changed = text.replacing(body, with: body.replacingCharacters(in: index...index, with: "\(other)"))
        #expect(changed != text)
        #expect(throws: SigningRequest.Fault.notProved) { try SigningRequest.key(inPEM: changed) }
    }

    @Test("What was written as PEM is read back as it was")
    func pem() throws {
        let fleet = try TestFleet()
        let all = [fleet.issuer.certificate, fleet.root.certificate]
        #expect(try FleetCertificate.all(inPEM: all.map(\.pem).joined()) == all)
        #expect(throws: FleetCertificate.Fault.unreadable) {
            try FleetCertificate.all(inPEM: all[0].pem + DeviceKey().pem)
        }
    }
}

extension CertificateAuthority {
    /// An issuer that nobody has made one.
    static func forged(by key: DeviceKey, fleet: DevicePublicKey) throws -> CertificateAuthority {
        let own = try makeRoot(key, now: TestFleet.today)
        return try CertificateAuthority(
            own.issue(.issuer, to: key.publicKey, as: .office, now: TestFleet.today), key: key, fleet: fleet)
    }
}
