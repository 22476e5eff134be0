/// Whose a journal is: a laptop's key and the number that makes this name of it; or a server's key.
///
/// The name of a laptop's journal, the `ReplicaID`, is the hash of both (`Authorship`), so nobody gives a journal of theirs the
/// name of another's. The channel has a name that follows from no key: servers come and go, and it is one journal. So each
/// signature in it names the server's key, and the fleet says which keys are servers'.
package struct JournalAuthor: Hashable, Sendable {
    /// The public half of the key: 32 bytes (RFC 8032 section 5.1.5).
    package let key: [UInt8]
    /// Random; a store that takes a new name draws another one (rule R9). Nil for a server, which writes the channel only.
    package let nonce: UInt128?
    /// By which its fleet knows the key: its own and its issuer's, in DER. Empty while it belongs to none.
    package var certificates: [[UInt8]]

    /// Nil when the key does not have 32 bytes, and for certificates that are too many or too long.
    package init?(key: [UInt8], nonce: UInt128?, certificates: [[UInt8]] = []) {
        guard key.count == 32, certificates.count <= Self.mostCertificates,
            certificates.allSatisfy({ $0.count <= Self.longestCertificate })
        else { return nil }
        self.key = key
        self.nonce = nonce
        self.certificates = certificates
    }

    /// Whether it writes the channel, and no other journal.
    package var isServer: Bool { nonce == nil }

    /// Of one certificate, in bytes.
    package static let longestCertificate = 4_096
    /// More no chain has.
    package static let mostCertificates = 2
}

/// An Ed25519 signature (RFC 8032) of a journal's author; in the channel with the key after it, for a server that has taken
/// another key goes on in the same journal.
package struct JournalSignature: Hashable, Sendable {
    /// How many bytes a laptop's has.
    package static let byteCount = 64
    /// How many one in the channel has, with the key.
    package static let channelByteCount = 96
    /// 64 or 96 of them, as they are stored and sent.
    package let bytes: [UInt8]

    /// Nil for any other number of bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount || bytes.count == Self.channelByteCount else { return nil }
        self.bytes = bytes
    }

    /// What the key has made of the content: 64 bytes.
    package var value: ArraySlice<UInt8> { bytes[..<Self.byteCount] }

    /// The server's that has signed; nil in a laptop's journal, whose name follows from one key.
    package var key: [UInt8]? { bytes.count > Self.byteCount ? Array(bytes[Self.byteCount...]) : nil }
}
