import CRDT
import Simulation
import Testing

@testable import Identity

@Suite("The root of a fleet", .timeLimit(.minutes(2)))
struct RootTests {
    @Test("A sealed root opens with its passphrase and no other, and shows its certificate without one")
    func sealed() throws {
        let key = DeviceKey()
        let root = try CertificateAuthority.makeRoot(key, now: TestFleet.today)
        let kept = try SealedRoot(key, root.certificate, passphrase: "correct horse").text
        let sealed = try SealedRoot(text: kept)
        #expect(sealed.certificate == root.certificate)
        #expect(try sealed.open(passphrase: "correct horse").publicKey == key.publicKey)
        #expect(throws: SealedRoot.Fault.wrongPassphrase) { try sealed.open(passphrase: "correct horse ") }
        #expect(!kept.contains(key.pem.split(separator: "\n")[1]))
    }

    @Test("A sealed key under another certificate does not open, and what is no root says so")
    func exchanged() throws {
        let key = DeviceKey()
        let root = try CertificateAuthority.makeRoot(key, now: TestFleet.today)
        let other = try CertificateAuthority.makeRoot(key, now: TestFleet.today + 1_000)
        let kept = try SealedRoot(key, root.certificate, passphrase: "p").text
        let exchanged = kept.replacing(root.certificate.pem, with: other.certificate.pem)
        #expect(exchanged != kept)
        #expect(throws: SealedRoot.Fault.wrongPassphrase) { try SealedRoot(text: exchanged).open(passphrase: "p") }
        for text in ["", root.certificate.pem, kept + kept, DeviceKey().pem] {
            #expect(throws: SealedRoot.Fault.unreadable) { try SealedRoot(text: text) }
        }
    }

    @Test("The recovery code makes the same root again, and another code another one")
    func recovered() throws {
        let code = RecoveryCode()
        let key = try #require(code.rootKey)
        let typed = try RecoveryCode(code.description.lowercased())
        #expect(typed.rootKey?.publicKey == key.publicKey)
        #expect(RecoveryCode().rootKey?.publicKey != key.publicKey)
        #expect(code.description.count == 39)
        #expect(throws: CodeFault.length(16, expected: 32)) { try RecoveryCode("7K3M-QX0T-94WD-BZES") }
    }

    /// What Python's hmac makes of the 30 characters that are no checks, by RFC 5869 and docs/identity.md.
    private static let known = "b20210f112cd8cfed37ba82b4b63f21f9083ca35cf079589cd6418377877a229"

    @Test("What a code stands for does not change with the program")
    func knownCode() throws {
        let code = try RecoveryCode("7K3M-QX0T-94WD-BZES-7K3M-QX0T-94WD-BZES")
        #expect(code.rootKey?.secret.hexadecimalDigits == Self.known)
    }
}
