package import CRDT
import Crypto

/// Signs a store's own journals: a laptop's key, and what its fleet says of it.
package protocol JournalSigner: Sendable {
    /// The public half: 32 bytes (RFC 8032 section 5.1.5). It never changes.
    var publicKey: [UInt8] { get }
    /// As `JournalAuthor.certificates`, by now; none where nothing lets it write.
    var certificates: [[UInt8]] { get }

    /// An Ed25519 signature: 64 bytes.
    func signature(over content: [UInt8]) -> [UInt8]
}

extension JournalSigner {
    /// The name of the laptop that has the key.
    package var device: DeviceID { DeviceID(ofKey: publicKey) }

    /// Who writes under the name that a number makes, or the channel without one; nil for a key that is none.
    package func author(nonce: UInt128?) -> JournalAuthor? {
        JournalAuthor(key: publicKey, nonce: nonce, certificates: certificates)
    }

    /// Says that a journal stands so.
    package func sign(_ head: JournalHead, of replica: ReplicaID, job: JobID) -> JournalSignature? {
        JournalSignature(
            signature(over: SignedHead.content(head, of: replica, job: job)) + (replica == .channel ? publicKey : []))
    }
}

extension JournalAuthor {
    /// The name under which it is known: the first 128 bits of SHA-256 over a purpose, the key and the nonce. A laptop's journals
    /// bear it, and no channel: nobody finds a key for 0.
    package var name: ReplicaID {
        guard let nonce else { return Self.name(ofServer: key) }
        var content = Array("muster replica 1\0".utf8) + key
        withUnsafeBytes(of: nonce.bigEndian) { content += $0 }
        return ReplicaID(SHA256.hash(data: content).halves.high)
    }

    fileprivate static func name(ofServer key: [UInt8]) -> ReplicaID {
        ReplicaID(SHA256.hash(data: Array("muster server 1\0".utf8) + key).halves.high)
    }

    /// The journals that it writes: no laptop the channel, and no server another one.
    package var replica: ReplicaID { isServer ? .channel : name }

    /// The name of the laptop, or of the server.
    package var device: DeviceID { DeviceID(ofKey: key) }

    /// Whether a signature is this author's, of a journal that stands so.
    package func hasSigned(
        _ head: JournalHead, job: JobID, _ signature: JournalSignature, of replica: ReplicaID
    ) -> Bool {
        guard replica == self.replica, signature.key == (isServer ? key : nil),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key)
        else { return false }
        return key.isValidSignature(signature.value, for: SignedHead.content(head, of: replica, job: job))
    }
}

extension JournalSegment {
    /// The name of its author (`JournalAuthor.name`); nil in a channel that names no server's key.
    package var authorName: ReplicaID? {
        guard replica == .channel else { return replica }
        return signature?.key.map(JournalAuthor.name(ofServer:))
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
