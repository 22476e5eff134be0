import Authorship
package import CRDT
import Crypto
import FoundationEssentials
import SwiftASN1

/// The key by which a laptop is known to its fleet: Ed25519 (RFC 8032).
package struct DeviceKey: Sendable {
    let key: Curve25519.Signing.PrivateKey

    /// Makes a new one, from the system's source of randomness.
    package init() {
        key = Curve25519.Signing.PrivateKey()
    }

    /// Takes one up again.
    ///
    /// - Parameter secret: the 32 bytes of `secret`; nil for any other number of them.
    package init?(secret: [UInt8]) {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: secret) else { return nil }
        self.key = key
    }

    /// 32 bytes that nobody else may see (RFC 8032 section 5.1.5).
    package var secret: [UInt8] { Array(key.rawRepresentation) }

    /// What everybody may know.
    package var publicKey: DevicePublicKey { DevicePublicKey(key.publicKey) }

    /// An Ed25519 signature: 64 bytes, always the same for one content.
    package func signature(over content: [UInt8]) -> [UInt8] {
        // It fails for no key and no content.
        (try? key.signature(for: content)).map { Array($0) } ?? []
    }
}

/// A key in a file, as other programs read it, too.
extension DeviceKey {
    /// All of a PKCS #8 Ed25519 key but the secret itself (RFC 8410 section 7).
    private static let header: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]
    private static let discriminator = "PRIVATE KEY"

    /// The secret as PKCS #8 in PEM (RFC 8410, RFC 7468).
    package var pem: String {
        PEMDocument(type: Self.discriminator, derBytes: Self.header + secret).pemString
    }

    /// Takes one up again; nil for what is not such a `pem`.
    package init?(pem: String) {
        guard let document = try? PEMDocument(pemString: pem), document.discriminator == Self.discriminator,
            document.derBytes.starts(with: Self.header)
        else { return nil }
        self.init(secret: Array(document.derBytes.dropFirst(Self.header.count)))
    }
}

/// The public half of a `DeviceKey`.
package struct DevicePublicKey: Hashable, Sendable {
    /// 32 bytes (RFC 8032 section 5.1.5).
    package let bytes: [UInt8]

    init(_ key: Curve25519.Signing.PublicKey) {
        bytes = Array(key.rawRepresentation)
    }

    /// Takes 32 bytes; nil for any other number of them. Whether somebody has the secret to it, only a signature tells.
    package init?(_ bytes: [UInt8]) {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else { return nil }
        self.init(key)
    }

    /// The name of the laptop that has the secret: SHA-256 of the 32 bytes.
    package var device: DeviceID {
        DeviceID(ofKey: bytes)
    }

    /// The same for programs that know no laptops: `sha256//` and, in base 64, SHA-256 of the key as it stands in a certificate
    /// (RFC 7469 section 2.4; RFC 8410 section 4), as curl(1) takes it for `--pinnedpubkey`.
    package var pin: String {
        let header: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
        return "sha256//" + Data(SHA256.hash(data: header + bytes)).base64EncodedString()
    }
}
