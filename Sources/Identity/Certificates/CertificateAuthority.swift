import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// Makes certificates with a key that may: the root's, or an issuer's.
package struct CertificateAuthority: Sendable {
    /// Why one is not made.
    package enum Refusal: IdentityFault, Hashable, Sendable {
        /// The key is not that of the certificate.
        case otherKey
        /// Only the root makes issuers, and only issuers make laptops' certificates.
        case otherKind
        /// Nobody makes anybody who may do more than they.
        case roleTooHigh(mine: FleetRole)
        /// The issuer's own certificate has run out.
        case ranOut
        /// The library would not.
        case failed(String)

        /// What is wrong and what to do.
        package var sentence: String {
            switch self {
            case .otherKey: "The key does not belong to the certificate; use the two that were made together."
            case .otherKind: "This key may not issue such a certificate; ask someone who leads a crew, or the office."
            case .roleTooHigh(let mine):
                "A laptop that is \(mine.rawValue) cannot let in one that may do more; ask the office."
            case .ranOut: "This laptop's right to issue has run out; renew it with the fleet's root key."
            case .failed(let reason): "The certificate could not be made (\(reason)); try again."
            }
        }
    }

    /// How long each kind holds, in milliseconds. Servers do not renew their own, nor do they lie in vans.
    package static func lifetime(of kind: CertificateKind, as role: FleetRole = .member) -> Int64 {
        switch kind {
        case .root: 30 * 365 * day
        case .issuer: 400 * day
        case .laptop: role.isLaptops ? 45 * day : 400 * day
        case .renewal: 45 * day
        case .newcomer: endOfTime
        }
    }

    private static let day: Int64 = 86_400_000
    /// 9999-12-31T23:59:59Z, which stands for no end (RFC 5280 section 4.1.2.5).
    private static let endOfTime: Int64 = 253_402_300_799_000
    /// A clock that goes a little behind the issuer's must not find its new certificate too young.
    private static let leeway: Int64 = 300_000

    /// What the certificates are signed under.
    package let certificate: FleetCertificate
    private let key: DeviceKey
    private let fleet: DevicePublicKey

    /// Takes up the right to issue.
    ///
    /// - Parameters:
    ///   - certificate: the root's, or an issuer's.
    ///   - fleet: the root's key.
    package init(_ certificate: FleetCertificate, key: DeviceKey, fleet: DevicePublicKey) throws(Refusal) {
        guard certificate.key == key.publicKey else { throw .otherKey }
        guard certificate.kind == .root || certificate.kind == .issuer else { throw .otherKind }
        self.certificate = certificate
        self.key = key
        self.fleet = fleet
    }

    /// Begins a fleet: the root signs its own key.
    ///
    /// - Parameter now: in milliseconds since 1970.
    package static func makeRoot(_ key: DeviceKey, now: Int64) throws(Refusal) -> CertificateAuthority {
        let root = key.publicKey
        let subject = FleetSubject(.root, of: root, fleet: root, role: .office)
        let certificate = try signed(
            subject, of: root, from: now - leeway, until: now + lifetime(of: .root), under: nil, by: key)
        return try CertificateAuthority(certificate, key: key, fleet: root)
    }

    /// What a device shows that nobody vouches for yet: its own key, signed by itself. It holds at any time, because such a
    /// laptop may not know the time.
    ///
    /// - Parameter role: what it is by its own word: a laptop of whatever role, or a server.
    package static func makeNewcomer(
        _ key: DeviceKey, as role: FleetRole = .reader
    ) throws(Refusal) -> FleetCertificate {
        let newcomer = key.publicKey
        return try signed(
            FleetSubject(.newcomer, of: newcomer, fleet: newcomer, role: role), of: newcomer,
            from: 0, until: endOfTime, under: nil, by: key)
    }

    /// Makes a certificate of a kind below its own.
    ///
    /// It ends no later than this authority's own one.
    ///
    /// - Parameters:
    ///   - now: as near as is known, in milliseconds since 1970; the lifetime counts from here.
    ///   - certain: a time that is certainly past, from which on it holds: whoever sees it takes that as past, too.
    package func issue(
        _ kind: CertificateKind, to owner: DevicePublicKey, as role: FleetRole, now: Int64, certain: Int64? = nil
    ) throws(Refusal) -> FleetCertificate {
        switch (certificate.kind, kind) {
        case (.root, .issuer), (.issuer, .laptop): break
        default: throw .otherKind
        }
        guard role <= certificate.role else { throw .roleTooHigh(mine: certificate.role) }
        let end = min(now + Self.lifetime(of: kind, as: role), certificate.notAfter)
        guard now < end else { throw .ranOut }
        return try Self.signed(
            FleetSubject(kind, of: owner, fleet: fleet, role: role), of: owner,
            from: max(min(now, certain ?? now) - Self.leeway, certificate.notBefore), until: end,
            under: certificate.certificate.subject, by: key)
    }

    /// Prolongs what an issuer has given, as a server, which is no issuer: it counts beside that and nowhere else.
    ///
    /// - Parameters:
    ///   - former: whose chain was judged.
    ///   - server: the server's own certificate, after which the renewal does not end.
    ///   - key: the server's.
    ///   - now: in milliseconds since 1970; the lifetime counts from here.
    package static func renewal(
        of former: FleetMember, by server: FleetCertificate, key: DeviceKey, fleet: DevicePublicKey, now: Int64
    ) throws(Refusal) -> FleetCertificate {
        guard server.key == key.publicKey else { throw .otherKey }
        guard server.kind == .laptop, server.role == .server, former.role.isLaptops else { throw .otherKind }
        guard server.notBefore <= now, now < server.notAfter else { throw .ranOut }
        return try signed(
            FleetSubject(.renewal, of: former.key, fleet: fleet, role: former.role), of: former.key,
            from: max(now - leeway, server.notBefore), until: min(now + lifetime(of: .renewal), server.notAfter),
            under: FleetSubject.renewer(server, of: fleet), by: key)
    }

    /// - Parameter issuer: nil for one that signs itself.
    static func signed(
        _ subject: FleetSubject, of owner: DevicePublicKey, from start: Int64, until end: Int64,
        under issuer: DistinguishedName?, by key: DeviceKey
    ) throws(Refusal) -> FleetCertificate {
        do {
            let certificate = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(),
                publicKey: Certificate.PublicKey(Curve25519.Signing.PublicKey(rawRepresentation: owner.bytes)),
                notValidBefore: Date(milliseconds: start), notValidAfter: Date(milliseconds: end),
                issuer: issuer ?? subject.name, subject: subject.name,
                signatureAlgorithm: .ed25519,
                extensions: extensions(for: subject.kind), issuerPrivateKey: Certificate.PrivateKey(key.key))
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return try FleetCertificate(serializer.serializedBytes)
        } catch {
            throw .failed("\(error)")
        }
    }

    private static func extensions(for kind: CertificateKind) throws -> Certificate.Extensions {
        switch kind {
        case .root, .issuer:
            try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: kind == .root ? 1 : 0))
                Critical(KeyUsage(keyCertSign: true))
            }
        case .laptop, .renewal, .newcomer:
            try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.clientAuth, .serverAuth])
            }
        }
    }
}
