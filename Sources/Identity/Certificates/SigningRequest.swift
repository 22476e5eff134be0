import CRDT
import Crypto
import SwiftASN1
import X509

/// A laptop's wish for a certificate (PKCS #10, RFC 2986): its key, and the proof that it has the secret of it.
///
/// What else stands in one is not looked at: the issuer decides what the laptop may do.
package struct SigningRequest: Sendable {
    /// Why there is no key to be had from a text.
    package enum Fault: IdentityFault, Hashable, Sendable {
        case unreadable
        /// Only Ed25519 names laptops.
        case otherKey
        /// Whoever made it has not the key's secret.
        case notProved

        /// What is wrong and what to do.
        package var sentence: String {
            switch self {
            case .unreadable: "This is no request for a certificate; give what 'muster fleet request' printed."
            case .otherKey: "The request is for another kind of key than Ed25519; make it with 'muster fleet request'."
            case .notProved: "The request was changed on its way; make it again with 'muster fleet request'."
            }
        }
    }

    /// In PEM (RFC 7468), with a line break after it.
    package let pem: String

    /// - Throws: what the library says.
    package init(_ key: DeviceKey) throws {
        let request = try CertificateSigningRequest(
            version: .v1, subject: DistinguishedName { CommonName(key.publicKey.device.description) },
            privateKey: Certificate.PrivateKey(key.key), attributes: CertificateSigningRequest.Attributes(),
            signatureAlgorithm: .ed25519)
        pem = try request.serializeAsPEM().pemString + "\n"
    }

    /// Whose certificate is wanted.
    package static func key(inPEM text: String) throws(Fault) -> DevicePublicKey {
        guard let request = try? CertificateSigningRequest(pemEncoded: text) else { throw .unreadable }
        guard let key = Curve25519.Signing.PublicKey(request.publicKey) else { throw .otherKey }
        guard request.publicKey.isValidSignature(request.signature, for: request) else { throw .notProved }
        return DevicePublicKey(key)
    }
}
