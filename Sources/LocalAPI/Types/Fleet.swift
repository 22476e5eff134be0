package import HTTPCoding

/// This laptop's place in a fleet.
package struct FleetStatus: Codable, Hashable, Sendable {
    /// 64 hexadecimal digits: SHA-256 of the laptop's public key.
    package var deviceID: String
    /// The fleet's short id, eight hexadecimal digits; null for a laptop without a fleet. The rest is null then, too.
    @Nullable package var fleetID: String?
    /// The whole one, which is SHA-256 of the public key of the fleet's root: 64 hexadecimal digits.
    @Nullable package var rootID: String?
    /// `office`, `lead`, `member` or `reader`.
    @Nullable package var role: String?
    /// When the laptop's certificate runs out.
    @Nullable package var validUntil: Timestamp?
    /// The short id of the laptop that has let this one in.
    @Nullable package var issuerID: String?
    /// Whether this laptop may let others in.
    package var isIssuer: Bool
    /// Whether this laptop was shut out for good.
    package var isRevoked: Bool
    /// What an issuer makes a certificate from: PKCS #10 in PEM.
    package var request: String
    /// Corrected time.
    package var time: Timestamp

    /// Of a laptop without a fleet, unless the rest is set.
    package init(deviceID: String, isIssuer: Bool, isRevoked: Bool, request: String, time: Timestamp) {
        self.deviceID = deviceID
        self.isIssuer = isIssuer
        self.isRevoked = isRevoked
        self.request = request
        self.time = time
    }
}

/// Certificates of a fleet in PEM: the laptop's own or its right to issue, then those above it, the root's last.
package struct FleetCertificates: Codable, Hashable, Sendable, ClosedBody {
    package var certificates: String

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case certificates }

    package init(certificates: String) {
        self.certificates = certificates
    }
}

/// A wish for a certificate.
package struct SignCertificateRequest: Codable, Hashable, Sendable, ClosedBody {
    /// As in `FleetStatus`, of the other laptop.
    package var request: String
    /// What the other laptop may do; as in `FleetStatus`.
    package var role: String

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case request, role }

    package init(request: String, role: String) {
        self.request = request
        self.role = role
    }
}
