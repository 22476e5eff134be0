import CRDT
import Testing

@testable import Identity

@Suite("What joining rests on")
struct JoiningTests {
    /// From the paper's table of IP addresses (arXiv:0901.4016).
    @Test(
        "Key words are proquints",
        arguments: [(0x7F00, "lusab"), (0x0001, "babad"), (0x3F54, "gutih"), (0xDCC1, "tugad"), (0xC0A8, "safom")])
    func proquints(bits: Int, word: String) {
        #expect(KeyWords.word(UInt16(bits)) == word)
    }

    @Test("Key words are the first 48 bits of the name, and another key has others")
    func keyWords() {
        let key = DeviceKey().publicKey
        let words = KeyWords.of(key)
        let bits = key.device.description.prefix(12)
        let expected = (0..<3).map { number in
            KeyWords.word(UInt16(bits.dropFirst(number * 4).prefix(4), radix: 16) ?? 0)
        }
        #expect(words == expected.joined(separator: "-"))
        #expect(words != KeyWords.of(DeviceKey().publicKey))
    }

    @Test("Two thousand names are looked up at once, then fifteen a second, and no credit is saved beyond that")
    func attempts() {
        var limit = AttemptLimit(now: 5_000)
        #expect((0..<2_100).count { _ in limit.allowsOne(now: 5_000) } == 2_000)
        #expect((0..<100).count { _ in limit.allowsOne(now: 6_000) } == 15)
        #expect((0..<100).count { _ in limit.allowsOne(now: 5_500) } == 0, "time that goes back gives nothing")
        #expect((0..<100).count { _ in limit.allowsOne(now: 6_067) } == 1)
        #expect((0..<3_000).count { _ in limit.allowsOne(now: 100_000_000) } == 2_000)
    }

    @Test("A laptop that nobody vouches for has a certificate that lets it in nowhere, at any time")
    func newcomer() async throws {
        let key = DeviceKey()
        let certificate = try CertificateAuthority.makeNewcomer(key)
        #expect(certificate.kind == .newcomer && certificate.key == key.publicKey)
        #expect(certificate.notBefore == 0 && certificate.notAfter > 253_000_000_000_000)
        #expect(FleetTrust(root: certificate) == nil)
        #expect(throws: CertificateAuthority.Refusal.otherKind) {
            _ = try CertificateAuthority(certificate, key: key, fleet: key.publicKey)
        }
    }
}
