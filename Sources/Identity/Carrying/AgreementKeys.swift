import Crypto

/// The device key for what is encrypted to a laptop: the X25519 key (RFC 7748) at the same point of the curve. docs/carry.md says why
/// one key may do both.
extension DevicePublicKey {
    /// Nil for the few keys with which nothing would be secret.
    var agreementKey: Curve25519.KeyAgreement.PublicKey? {
        // u = (1 + y) / (1 - y), RFC 7748 section 4.1; the sign of x, which is the highest bit, has no part in it.
        let y = FieldElement25519(littleEndian: bytes)
        let u = (.one + y) * (.one - y).inverse
        guard !u.isZero else { return nil }
        return try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: u.bytes)
    }
}

extension DeviceKey {
    /// The scalar with which Ed25519 multiplies (RFC 8032 section 5.1.5); X25519 prunes it in the same way.
    var agreementKey: Curve25519.KeyAgreement.PrivateKey? {
        try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: Array(SHA512.hash(data: secret).prefix(32)))
    }
}
