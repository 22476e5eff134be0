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

    @Test("A server signs channels, with its key after the signature, and is known by a name of its key")
    func server() throws {
        let (signer, job) = (try signer(), try #require(Self.job))
        let server = try #require(signer.author(nonce: nil))
        #expect(server.isServer && server.replica == .channel)
        #expect(server.name.description == "354ff4c769e775b77e706e444a90c64b")
        let head = JournalHead(
            sequence: 7,
            digest: try #require(JournalDigest("604657543ed3d8c1b0af65f2b8b066f1272e50d95893a5cc1ba0a9b4e0b7eb4f")))
        let signature = try #require(signer.sign(head, of: .channel, job: job))
        #expect(
            signature.bytes.hexadecimalDigits
                == "d5732e587939999979a338b9029f53a3ec7a440db36ab94299f264e182f3a7ba"
                + "b3fa5e60e06fe55e0fa1b25f2e64c299dff017befd524829312e825cfe7e4304"
                + "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8")
        #expect(server.hasSigned(head, job: job, signature, of: .channel))
        let segment = JournalSegment(replica: .channel, first: 1, head: head, bytes: [1], signature: signature)
        #expect(segment.authorName == server.name)
    }

    @Test(
        "What a server signs is no laptop's, what a laptop signs is no server's, and a server's other key is another's")
    func serversAndLaptops() throws {
        let (signer, job) = (try signer(), try #require(Self.job))
        let (server, laptop) = (try #require(signer.author(nonce: nil)), try #require(signer.author(nonce: 0)))
        #expect(laptop.name != server.name && laptop.replica != .channel)
        let head = JournalHead(sequence: 7, digest: 3)
        let channel = try #require(signer.sign(head, of: .channel, job: job))
        let bare = try #require(JournalSignature(Array(channel.value)))
        #expect(!laptop.hasSigned(head, job: job, channel, of: .channel))
        #expect(!laptop.hasSigned(head, job: job, bare, of: .channel))
        #expect(!server.hasSigned(head, job: job, bare, of: .channel), "it names no key")
        let own = try #require(signer.sign(head, of: laptop.name, job: job))
        #expect(!server.hasSigned(head, job: job, own, of: laptop.name))
        let named = try #require(JournalSignature(own.bytes + signer.publicKey))
        #expect(!laptop.hasSigned(head, job: job, named, of: laptop.name), "a laptop's names no key")
        #expect(!server.hasSigned(head, job: job, named, of: laptop.name))
        let other = try #require(JournalSignature(Array(channel.value) + TestSigner(5).publicKey))
        #expect(!server.hasSigned(head, job: job, other, of: .channel))
        let unsigned = JournalSegment(replica: .channel, first: 1, head: head, bytes: [1])
        #expect(unsigned.authorName == nil)
        #expect(JournalSegment(replica: laptop.name, first: 1, head: head, bytes: [1]).authorName == laptop.name)
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
