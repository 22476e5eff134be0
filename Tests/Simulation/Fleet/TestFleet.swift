package import CRDT
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
    private let founded: Int64
    private let issuerKey: DeviceKey

    /// A new fleet.
    ///
    /// - Parameter founded: when, in milliseconds since 1970: the same day in each run, unless somebody looks at a real clock.
    package init(issuerRole: FleetRole = .office, founded: Int64 = TestFleet.today) throws {
        self.founded = founded
        let rootKey = DeviceKey()
        issuerKey = DeviceKey()
        root = try CertificateAuthority.makeRoot(rootKey, now: founded)
        issuer = try CertificateAuthority(
            root.issue(.issuer, to: issuerKey.publicKey, as: issuerRole, now: founded), key: issuerKey,
            fleet: rootKey.publicKey)
        guard let trust = FleetTrust(root: root.certificate) else { preconditionFailure("a root that is none") }
        self.trust = trust
    }

    /// What a laptop shows that was let in some days after the beginning: in DER, its own certificate first.
    package func chain(_ key: DeviceKey, as role: FleetRole = .member, on day: Int64 = 0) throws -> [[UInt8]] {
        try chain(key.publicKey, as: role, on: day)
    }

    /// The same of a key whose secret somebody else has.
    package func chain(_ key: DevicePublicKey, as role: FleetRole = .member, on day: Int64 = 0) throws -> [[UInt8]] {
        let leaf = try issuer.issue(.laptop, to: key, as: role, now: founded + day * Self.day)
        return [leaf.bytes, issuer.certificate.bytes]
    }

    /// What a server installs, from what it has asked with.
    package func papers(_ request: String, as role: FleetRole = .server) throws -> String {
        let chain = try chain(SigningRequest.key(inPEM: request), as: role)
        return try chain.map { try FleetCertificate($0).pem }.joined() + root.certificate.pem
    }

    /// Signed by the issuer, at the beginning.
    package func revocation(of device: DeviceID) throws -> Revocation {
        try Revocation(
            of: device, by: issuer.certificate, key: issuerKey, fleet: root.certificate.key, now: founded)
    }
}
