import Crypto
import CryptoExtras

/// What both sides of an invitation agree to: each proves that it knows the code for these and no others.
package struct JoinTerms: Hashable, Sendable {
    /// Whoever issues the certificate; TLS has proved that the peer has its key.
    package let inviter: DevicePublicKey
    /// Whoever gets it; the same holds.
    package let newcomer: DevicePublicKey
    /// The key of the fleet's root.
    package let fleet: DevicePublicKey
    /// What the newcomer will be.
    package let role: FleetRole

    /// Checks nothing.
    package init(inviter: DevicePublicKey, newcomer: DevicePublicKey, fleet: DevicePublicKey, role: FleetRole) {
        self.inviter = inviter
        self.newcomer = newcomer
        self.fleet = fleet
        self.role = role
    }
}

/// The two sides of an invitation.
package enum JoinSide: UInt8, Hashable, Sendable {
    case newcomer = 1
    case inviter = 2
}

/// What a code becomes before anything is proved with it: slow to make, so that a code cannot be searched for.
package struct JoinKey: Sendable {
    /// scrypt (RFC 7914) with 32 MiB.
    private static let rounds = 1 << 15
    private static let blockSize = 8

    private let key: SymmetricKey

    /// Takes a tenth of a second of a core, optimised.
    ///
    /// - Throws: what BoringSSL says, when there is no memory.
    package init(_ code: InvitationCode) throws {
        key = try KDF.Scrypt.deriveKey(
            from: Array(code.secret.utf8), salt: Array("muster invitation 1 \(code.name)".utf8), outputByteCount: 32,
            rounds: Self.rounds, blockSize: Self.blockSize, parallelism: 1)
    }

    /// 32 bytes of HMAC-SHA-256 (RFC 2104): only who knows the code can make them, and for these terms only.
    package func proof(of side: JoinSide, for terms: JoinTerms) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Self.content(side, terms), using: key))
    }

    /// Whether it is that proof; takes equally long whatever is wrong with it.
    package func isProof(_ proof: [UInt8], of side: JoinSide, for terms: JoinTerms) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(proof, authenticating: Self.content(side, terms), using: key)
    }

    /// All but the role, which is last, have one length: no two terms have one content.
    private static func content(_ side: JoinSide, _ terms: JoinTerms) -> [UInt8] {
        [side.rawValue] + terms.inviter.bytes + terms.newcomer.bytes + terms.fleet.bytes
            + Array(terms.role.rawValue.utf8)
    }
}
