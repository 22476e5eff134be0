package import CRDT
import Crypto
import SwiftASN1

/// Shuts one key out of a fleet, for good: signed by one that may issue certificates, or by the root.
///
/// It names the key's hash and no certificate: one that is encoded anew, or issued anew, is shut out as well. Bytes: 1 (the
/// version), the device (32), the time of the signature in milliseconds since 1970 (8, big-endian), the signature (64), and
/// the signer's certificate in DER.
package struct Revocation: Hashable, Sendable, Comparable {
    /// Why bytes are none, or none of this fleet.
    package enum Refusal: IdentityFault, Hashable, Sendable {
        case unreadable
        /// Nobody who may has signed it.
        case notAllowed

        /// What is wrong and what to do.
        package var sentence: String {
            switch self {
            case .unreadable: "It is no revocation; give what 'muster fleet revoke' has made."
            case .notAllowed: "Nobody who may do so has signed the revocation; let an issuer, or the root, sign it."
            }
        }
    }

    /// Longer ones are refused unread.
    package static let mostBytes = 4_096
    private static let version: UInt8 = 1
    private static let purpose = "muster revocation 1"
    private static let headBytes = 1 + 32 + 8 + 64

    /// Whose key is shut out.
    package let device: DeviceID
    /// When it was signed, by the signer's clock.
    package let time: Int64
    /// Whose key has signed it.
    package let signer: FleetCertificate
    /// As it is kept and passed on.
    package let bytes: [UInt8]
    private let signature: [UInt8]

    /// Signs one.
    ///
    /// - Parameters:
    ///   - key: of the signer's certificate.
    ///   - fleet: the root's key.
    ///   - now: in milliseconds since 1970.
    package init(
        of device: DeviceID, by signer: FleetCertificate, key: DeviceKey, fleet: DevicePublicKey, now: Int64
    ) throws {
        // A clock that is wrong must not make it one that its own certificate does not cover.
        let time = min(max(now, signer.notBefore), signer.notAfter)
        let signature = Array(try key.key.signature(for: Self.content(device, time, fleet)))
        self.init(device, time, signer, signature)
    }

    /// Reads one; who has signed it is not looked at.
    package init(_ bytes: [UInt8]) throws(Refusal) {
        guard bytes.count > Self.headBytes, bytes.count <= Self.mostBytes, bytes[0] == Self.version,
            let signer = try? FleetCertificate(Array(bytes[Self.headBytes...]))
        else { throw .unreadable }
        let device = DeviceID(high: number(bytes[1..<17]), low: number(bytes[17..<33]))
        let time = Int64(truncatingIfNeeded: number(bytes[33..<41]))
        self.init(device, time, signer, Array(bytes[41..<Self.headBytes]))
        guard self.bytes == bytes else { throw .unreadable }
    }

    private init(_ device: DeviceID, _ time: Int64, _ signer: FleetCertificate, _ signature: [UInt8]) {
        self.device = device
        self.time = time
        self.signer = signer
        self.signature = signature
        bytes = [Self.version] + device.bytes + Self.bytes(of: time) + signature + signer.bytes
    }

    /// Whether somebody of this fleet has signed it who may. It does not run out with its signer's certificate.
    package func isSigned(in trust: FleetTrust) async -> Bool {
        let content = Self.content(device, time, trust.root.key)
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: signer.key.bytes),
            key.isValidSignature(signature, for: content)
        else { return false }
        // A root that was recovered has another certificate for the same key.
        if signer.key == trust.root.key { return FleetTrust(root: signer) != nil }
        return await trust.isIssuer(signer, at: time)
    }

    /// The earlier one counts, where there are several of one device: all laptops keep the same.
    package static func < (one: Revocation, other: Revocation) -> Bool {
        one.time != other.time ? one.time < other.time : one.bytes.lexicographicallyPrecedes(other.bytes)
    }

    private static func content(_ device: DeviceID, _ time: Int64, _ fleet: DevicePublicKey) -> [UInt8] {
        Array(purpose.utf8) + [0] + fleet.bytes + device.bytes + bytes(of: time)
    }

    private static func bytes(of time: Int64) -> [UInt8] {
        withUnsafeBytes(of: time.bigEndian) { Array($0) }
    }
}

extension Revocation {
    private static let discriminator = "MUSTER REVOCATION"

    /// As a block of PEM (RFC 7468), with a line break after it.
    package var pem: String { PEMDocument(type: Self.discriminator, derBytes: bytes).pemString + "\n" }

    /// Reads all blocks of a text.
    package static func all(inPEM text: String) throws(Refusal) -> [Revocation] {
        guard let documents = try? PEMDocument.parseMultiple(pemString: text) else { throw .unreadable }
        var revocations: [Revocation] = []
        for document in documents {
            guard document.discriminator == discriminator else { throw .unreadable }
            revocations.append(try Revocation(document.derBytes))
        }
        return revocations
    }
}

/// Every revocation of a fleet that a laptop knows of: one for each device. It only grows.
package struct RevocationLog: Sendable {
    /// More are not taken: a signer that makes them without end fills no disk.
    package static let mostDevices = 65_536

    private var byDevice: [DeviceID: Revocation] = [:]
    /// One number for all: who has the same needs no further word.
    package private(set) var fingerprint: UInt64 = 0

    /// Without any.
    package init() {}

    /// In the order of their devices.
    package var all: [Revocation] { byDevice.values.sorted { $0.device < $1.device } }

    /// The same as text: 16 hexadecimal digits.
    package var fingerprintText: String {
        let digits = String(fingerprint, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Whether its key is shut out.
    package func contains(_ device: DeviceID) -> Bool { byDevice[device] != nil }

    /// What is known of its revocation.
    package subscript(device: DeviceID) -> Revocation? { byDevice[device] }

    /// Takes one that is signed.
    ///
    /// - Returns: whether it was news.
    package mutating func add(_ revocation: Revocation) -> Bool {
        let known = byDevice[revocation.device]
        if let known, known <= revocation { return false }
        guard known != nil || byDevice.count < Self.mostDevices else { return false }
        byDevice[revocation.device] = revocation
        // A sum does not mind the order in which they came.
        fingerprint = fingerprint &+ Self.hash(revocation) &- (known.map(Self.hash) ?? 0)
        return true
    }

    /// Looks at what somebody has told of revocations.
    ///
    /// - Returns: those that would be news here.
    /// - Throws: `Revocation.Refusal` when one of them is none, or nobody who may has signed it.
    package func news(in entries: [[UInt8]], of trust: FleetTrust) async throws(Revocation.Refusal) -> [Revocation] {
        var news: [Revocation] = []
        for bytes in entries {
            let revocation = try Revocation(bytes)
            if let known = self[revocation.device], known <= revocation { continue }
            guard await revocation.isSigned(in: trust) else { throw .notAllowed }
            news.append(revocation)
        }
        return news
    }

    /// The same with more, each of which is signed.
    package func adding(_ revocations: [Revocation]) -> RevocationLog {
        var log = self
        for revocation in revocations { _ = log.add(revocation) }
        return log
    }

    private static func hash(_ revocation: Revocation) -> UInt64 {
        UInt64(truncatingIfNeeded: number(Array(SHA256.hash(data: revocation.bytes))[..<8]))
    }
}

/// Big-endian.
private func number(_ bytes: ArraySlice<UInt8>) -> UInt128 {
    bytes.reduce(0) { $0 << 8 | UInt128($1) }
}

extension DeviceID {
    /// 32, big-endian.
    fileprivate var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian) { Array($0) } + withUnsafeBytes(of: low.bigEndian) { Array($0) }
    }
}
