package import Identity

/// A fleet with its root and an issuer, which tests let laptops into.
package struct TestFleet: Sendable {
    /// In milliseconds.
    package static let day: Int64 = 86_400_000
    /// 2026-11-25, in milliseconds since 1970.
    package static let today: Int64 = 1_795_564_800_000

    /// Signs issuers.
    package let root: CertificateAuthority
    /// Signs laptops.
    package let issuer: CertificateAuthority
    /// Judges both.
    package let trust: FleetTrust

    /// A new fleet, founded today.
    package init(issuerRole: FleetRole = .office) throws {
        let rootKey = DeviceKey()
        let issuerKey = DeviceKey()
        root = try CertificateAuthority.makeRoot(rootKey, now: Self.today)
        issuer = try CertificateAuthority(
            root.issue(.issuer, to: issuerKey.publicKey, as: issuerRole, now: Self.today), key: issuerKey,
            fleet: rootKey.publicKey)
        guard let trust = FleetTrust(root: root.certificate) else { preconditionFailure("a root that is none") }
        self.trust = trust
    }

    /// What a laptop shows that was let in some days after today: in DER, its own certificate first.
    package func chain(_ key: DeviceKey, as role: FleetRole = .member, on day: Int64 = 0) throws -> [[UInt8]] {
        let leaf = try issuer.issue(.laptop, to: key.publicKey, as: role, now: Self.today + day * Self.day)
        return [leaf.bytes, issuer.certificate.bytes]
    }
}
