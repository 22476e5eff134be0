package import HTTPCoding

/// A laptop of the fleet, as this one knows it.
package struct FleetDevice: Codable, Hashable, Sendable {
    /// How it stands in the fleet.
    package enum State: String, Codable, CaseIterable, Sendable {
        /// This laptop itself.
        case own
        case member
        /// Its key is shut out for good.
        case revoked
    }

    /// 64 hexadecimal digits.
    package var deviceID: String
    /// The beginning of `deviceID` as words that two people compare.
    package var keyWords: String
    /// What it calls itself; null when this laptop has not talked to it.
    @Nullable package var name: String?
    /// As in `FleetStatus`; null when only its revocation is known.
    @Nullable package var role: String?
    package var state: State
    package var isConnected: Bool
    /// The short id of the laptop that has let it in.
    @Nullable package var issuerID: String?
    /// When the certificate that was last seen of it runs out.
    @Nullable package var validUntil: Timestamp?
    /// By the clock of whoever revoked it.
    @Nullable package var revokedAt: Timestamp?
    /// The short id of whoever revoked it.
    @Nullable package var revokedBy: String?

    /// Of which nothing more is known.
    package init(deviceID: String, keyWords: String, state: State, isConnected: Bool) {
        self.deviceID = deviceID
        self.keyWords = keyWords
        self.state = state
        self.isConnected = isConnected
    }
}

/// A wish to shut a laptop out for good: its id, a unique beginning of it or its name; or what the root has signed.
package struct RevocationRequest: Codable, Hashable, Sendable, ClosedBody {
    /// Signed by this laptop, which has to be an issuer.
    @Nullable package var device: String?
    /// Signed elsewhere, in PEM.
    @Nullable package var revocation: String?

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case device, revocation }

    package init(device: String? = nil, revocation: String? = nil) {
        self.device = device
        self.revocation = revocation
    }
}
