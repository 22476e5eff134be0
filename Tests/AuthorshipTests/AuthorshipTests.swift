import Authorship
import CRDT
import Identity
import Simulation
import Testing

/// Against what Python (hashlib, cryptography) made of the rules as docs/identity.md states them.
@Suite("Who wrote a journal")
struct AuthorshipTests {
    private static let job = JobID("job")

    /// Of the secret 00 01 02 … 1f.
    private func signer() throws -> TestSigner { TestSigner(key: try #require(DeviceKey(secret: Array(0..<32)))) }

    private func link(_ record: [UInt8], after digest: JournalDigest) -> JournalDigest {
        record.withUnsafeBytes { digest.after($0) }
    }

    @Test("Each link of the digest is the SHA-256 of the one before and the record")
    func chain() {
        let first = link([3] + Array("abc".utf8), after: .empty)
        #expect(first.description == "b7ac8ef87d0e2d27351d7d906f722943eb8daa8b85785f958c652c68ddbbcd05")
        let second = link([1] + Array("z".utf8), after: first)
        #expect(second.description == "604657543ed3d8c1b0af65f2b8b066f1272e50d95893a5cc1ba0a9b4e0b7eb4f")
        #expect(JournalDigest(second.description) == second)
    }

    @Test("A name follows from key and number, and a signature from key, job, name, place and digest")
    func signature() throws {
        let signer = try signer()
        let job = try #require(Self.job)
        let author = try #require(signer.author(nonce: 0x0102))
        #expect(author.replica.description == "6bbf808cd6ca58700c6dc07672e37550")
        let digest = try #require(
            JournalDigest("604657543ed3d8c1b0af65f2b8b066f1272e50d95893a5cc1ba0a9b4e0b7eb4f"))
        let head = JournalHead(sequence: 7, digest: digest)
        let signature = try #require(signer.sign(head, of: author.replica, job: job))
        #expect(
            signature.bytes.hexadecimalDigits
                == "8ec255a9142a9987b57a11b7474cde59e885029552919c55f38ac574a2c08463"
                + "b3828bebaaa1dc841383f17933b828749d8e35cc4ca878f56bd1dc5c0cd2f906")
        #expect(author.hasSigned(head, job: job, signature, of: author.replica))
    }

    @Test("Another place, digest, job, name, key or bit is not what was signed")
    func others() throws {
        let (signer, job) = (try signer(), try #require(Self.job))
        let author = try #require(signer.author(nonce: 1))
        let other = try #require(TestSigner(5).author(nonce: 1))
        let head = JournalHead(sequence: 7, digest: 3)
        let signature = try #require(signer.sign(head, of: author.replica, job: job))
        let name = author.replica
        #expect(!author.hasSigned(JournalHead(sequence: 8, digest: 3), job: job, signature, of: name))
        #expect(!author.hasSigned(JournalHead(sequence: 7, digest: 4), job: job, signature, of: name))
        #expect(!author.hasSigned(head, job: try #require(JobID("jo")), signature, of: name))
        #expect(!author.hasSigned(head, job: job, signature, of: other.replica))
        #expect(!other.hasSigned(head, job: job, signature, of: name))
        for bit in stride(from: 0, to: 512, by: 37) {
            var bytes = signature.bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            let spoilt = try #require(JournalSignature(bytes))
            #expect(!author.hasSigned(head, job: job, spoilt, of: name), "bit \(bit)")
        }
        let noKey = try #require(JournalAuthor(key: [UInt8](repeating: 0xFF, count: 32), nonce: 1))
        #expect(!noKey.hasSigned(head, job: job, signature, of: name))
        #expect(JournalSignature([]) == nil && JournalAuthor(key: [1], nonce: 1) == nil)
    }
}
