package import CRDT
import Crypto

/// Signs a store's own journals: a laptop's key, and what its fleet says of it.
package protocol JournalSigner: Sendable {
    /// The public half: 32 bytes (RFC 8032 section 5.1.5). It never changes.
    var publicKey: [UInt8] { get }
    /// As `JournalAuthor.certificates`, by now.
    var certificates: [[UInt8]] { get }

    /// An Ed25519 signature: 64 bytes.
    func signature(over content: [UInt8]) -> [UInt8]
}

extension JournalSigner {
    /// The name of the laptop that has the key.
    package var device: DeviceID { DeviceID(ofKey: publicKey) }

    /// Who writes under the name that a number makes; nil for a key that is none.
    package func author(nonce: UInt128) -> JournalAuthor? {
        JournalAuthor(key: publicKey, nonce: nonce, certificates: certificates)
    }

    /// Says that a journal stands so.
    package func sign(_ head: JournalHead, of replica: ReplicaID, job: JobID) -> JournalSignature? {
        JournalSignature(signature(over: SignedHead.content(head, of: replica, job: job)))
    }
}

extension JournalAuthor {
    /// The name of its journals: the first 128 bits of SHA-256 over a purpose, the key and the nonce. 0 is the channel's, and
    /// nobody finds a key for it.
    package var replica: ReplicaID {
        var content = Array("muster replica 1\0".utf8) + key
        withUnsafeBytes(of: nonce.bigEndian) { content += $0 }
        return ReplicaID(SHA256.hash(data: content).halves.high)
    }

    /// The name of the laptop.
    package var device: DeviceID { DeviceID(ofKey: key) }

    /// Whether a signature is this author's, of a journal that stands so.
    package func hasSigned(
        _ head: JournalHead, job: JobID, _ signature: JournalSignature, of replica: ReplicaID
    ) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return false }
        return key.isValidSignature(signature.bytes, for: SignedHead.content(head, of: replica, job: job))
    }
}

extension DeviceID {
    /// The name of the laptop that has the secret to a public key: SHA-256 of its bytes.
    package init(ofKey key: [UInt8]) {
        let digest = SHA256.hash(data: key).halves
        self.init(high: digest.high, low: digest.low)
    }
}

/// What is signed: a purpose, so that it can be taken for nothing else; the job and the journal; and where it stands.
enum SignedHead {
    static let purpose = "muster journal 1\0"

    static func content(_ head: JournalHead, of replica: ReplicaID, job: JobID) -> [UInt8] {
        var content = ByteWriter(reservingCapacity: 160)
        content.append(purpose.utf8)
        content.write(job.text)
        content.write(replica.value)
        content.write(head.sequence)
        content.write(head.digest)
        return content.bytes
    }
}
