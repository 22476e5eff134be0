/// Whose a journal is: a laptop's key and the number that makes this name of it.
///
/// The journal's name, the `ReplicaID`, is the hash of both (`Authorship`), so nobody gives a journal of theirs the name of
/// another's.
package struct JournalAuthor: Hashable, Sendable {
    /// The public half of the laptop's key: 32 bytes (RFC 8032 section 5.1.5).
    package let key: [UInt8]
    /// Random; a store that takes a new name draws another one (rule R9).
    package let nonce: UInt128
    /// By which its fleet knows the key: the laptop's own and its issuer's, in DER. Empty while it belongs to none.
    package var certificates: [[UInt8]]

    /// Nil when the key does not have 32 bytes, and for certificates that are too many or too long.
    package init?(key: [UInt8], nonce: UInt128, certificates: [[UInt8]] = []) {
        guard key.count == 32, certificates.count <= Self.mostCertificates,
            certificates.allSatisfy({ $0.count <= Self.longestCertificate })
        else { return nil }
        self.key = key
        self.nonce = nonce
        self.certificates = certificates
    }

    /// Of one certificate, in bytes.
    package static let longestCertificate = 4_096
    /// More no chain has.
    package static let mostCertificates = 2
}

/// An Ed25519 signature (RFC 8032) of a journal's author.
package struct JournalSignature: Hashable, Sendable {
    /// How many bytes one has.
    package static let byteCount = 64
    /// 64 of them.
    package let bytes: [UInt8]

    /// Nil for any other number of bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
