import Crypto
import CryptoExtras
import SwiftASN1

/// A fleet's root in a file: its certificate, which everybody may see, and its key, sealed with a passphrase.
///
/// The key is encrypted with ChaCha20-Poly1305 (RFC 8439) under scrypt (RFC 7914; N = 2¹⁷, r = 8, p = 1) of the
/// passphrase; the block holds 16 bytes of salt, 12 of nonce, 32 of ciphertext and 16 of tag. The certificate is
/// authenticated with it.
package struct SealedRoot: Sendable {
    /// What can be wrong with a file or a passphrase.
    package enum Fault: IdentityFault, Hashable, Sendable {
        case unreadable
        case wrongPassphrase
        /// There was no memory for scrypt.
        case failed(String)

        /// What is wrong and what to do.
        package var sentence: String {
            switch self {
            case .unreadable: "The file holds no fleet's root; name the one that 'muster fleet init' wrote."
            case .wrongPassphrase:
                "The passphrase does not fit, or the file is damaged; try again, or use the recovery code."
            case .failed(let reason): "The root cannot be opened (\(reason)); try again."
            }
        }
    }

    private static let discriminator = "MUSTER SEALED ROOT KEY"
    private static let rounds = 1 << 17
    private static let saltLength = 16

    /// To be kept, whole.
    package let text: String
    /// The root's, which is in the open.
    package let certificate: FleetCertificate
    private let sealed: [UInt8]

    /// Seals a key. Takes half a second of a core.
    ///
    /// - Parameter certificate: of this key.
    package init(_ key: DeviceKey, _ certificate: FleetCertificate, passphrase: String) throws(Fault) {
        do {
            var generator = SystemRandomNumberGenerator()
            let salt = (0..<Self.saltLength).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let box = try ChaChaPoly.seal(
                key.secret, using: Self.key(passphrase, salt), authenticating: certificate.bytes)
            sealed = salt + Array(box.combined)
        } catch {
            throw .failed("\(error)")
        }
        self.certificate = certificate
        text = certificate.pem + PEMDocument(type: Self.discriminator, derBytes: sealed).pemString + "\n"
    }

    /// Reads what was kept.
    package init(text: String) throws(Fault) {
        guard let documents = try? PEMDocument.parseMultiple(pemString: text), documents.count == 2,
            let certificate = try? FleetCertificate(documents[0].derBytes), certificate.kind == .root,
            documents[1].discriminator == Self.discriminator
        else { throw .unreadable }
        self.text = text
        self.certificate = certificate
        sealed = documents[1].derBytes
    }

    /// Opens it. Takes half a second of a core.
    package func open(passphrase: String) throws(Fault) -> DeviceKey {
        guard let box = try? ChaChaPoly.SealedBox(combined: sealed.dropFirst(Self.saltLength)) else {
            throw .unreadable
        }
        let key: SymmetricKey
        do { key = try Self.key(passphrase, Array(sealed.prefix(Self.saltLength))) } catch { throw .failed("\(error)") }
        guard let secret = try? ChaChaPoly.open(box, using: key, authenticating: certificate.bytes),
            let root = DeviceKey(secret: Array(secret)), root.publicKey == certificate.key
        else { throw .wrongPassphrase }
        return root
    }

    private static func key(_ passphrase: String, _ salt: [UInt8]) throws -> SymmetricKey {
        try KDF.Scrypt.deriveKey(
            from: Array(passphrase.utf8), salt: salt, outputByteCount: 32, rounds: rounds, blockSize: 8, parallelism: 1)
    }
}
