import CRDT
import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// What a certificate is for, which its extensions and its place in a chain have to agree with.
package enum CertificateKind: String, Hashable, Sendable {
    /// The fleet itself: signed by its own key, which lies in a drawer.
    case root
    /// May make laptops' certificates.
    case issuer
    /// Lets a laptop in.
    case laptop
    /// Prolongs a laptop's certificate, beside which alone it counts.
    case renewal
    /// Shows a key, and that nobody vouches for it yet.
    case newcomer
}

/// A certificate of a fleet (RFC 5280): a key, what its owner may do, and between which times.
///
/// The subject is `O=Muster KIND FLEET, OU=ROLE, CN=DEVICE`, the fleet's short id and the device's whole one: what a
/// proxy passes on can be read by people. Equality is that of the bytes.
package struct FleetCertificate: Hashable, Sendable {
    /// What a certificate can fail to be.
    package enum Fault: Error, Hashable, Sendable {
        /// No X.509, or not in DER.
        case unreadable
        /// Not a certificate of any fleet: another kind of key, or a subject that Muster does not write.
        case foreign
    }

    let certificate: Certificate
    /// In DER (X.690).
    package let bytes: [UInt8]
    /// Whose it is.
    package let key: DevicePublicKey
    /// As its subject claims; only a whole chain shows it.
    package let kind: CertificateKind
    /// What its owner may do; of an issuer, also the most that it may let others do.
    package let role: FleetRole
    /// The first millisecond since 1970 at which it holds.
    package let notBefore: Int64
    /// The last second at which it holds, in milliseconds since 1970.
    package let notAfter: Int64

    /// Reads one. What it claims is not checked but for its form.
    package init(_ bytes: [UInt8]) throws(Fault) {
        guard let certificate = try? Certificate(derEncoded: bytes), !Self.isInLeapSecond(bytes) else {
            throw .unreadable
        }
        guard let key = Curve25519.Signing.PublicKey(certificate.publicKey),
            let subject = FleetSubject(certificate.subject), subject.device == DevicePublicKey(key).device.description
        else { throw .foreign }
        self.certificate = certificate
        self.bytes = bytes
        self.key = DevicePublicKey(key)
        kind = subject.kind
        role = subject.role
        notBefore = certificate.notValidBefore.milliseconds
        notAfter = certificate.notValidAfter.milliseconds
    }

    /// Whether it begins or ends at second 60 or 61 of a minute, which no library here writes: X509 asserts that there is no 61, so whoever
    /// showed one would stop a debug build.
    private static func isInLeapSecond(_ bytes: [UInt8]) -> Bool {
        guard let certificate = try? DER.parse(bytes), let signed = certificate.children.first else { return false }
        return signed.children.lazy.flatMap(\.children).contains { time in
            switch time.identifier {
            case .utcTime: (try? UTCTime(derEncoded: time).seconds) ?? 0 > 59
            case .generalizedTime: (try? GeneralizedTime(derEncoded: time).seconds) ?? 0 > 59
            default: false
            }
        }
    }

    /// Whether it is a renewal that the owner of another certificate has signed; what that one may do is not looked at.
    func isRenewal(by server: FleetCertificate, of fleet: DevicePublicKey) -> Bool {
        kind == .renewal && certificate.issuer == FleetSubject.renewer(server, of: fleet)
            && server.certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
    }

    /// As a block of PEM (RFC 7468), with a line break after it.
    package var pem: String { PEMDocument(type: Certificate.defaultPEMDiscriminator, derBytes: bytes).pemString + "\n" }

    /// Reads all blocks of a text in their order.
    package static func all(inPEM text: String) throws(Fault) -> [FleetCertificate] {
        var certificates: [FleetCertificate] = []
        for bytes in try allBytes(inPEM: text) { certificates.append(try FleetCertificate(bytes)) }
        return certificates
    }

    /// The same in DER, unread: whether they are certificates is not looked at.
    package static func allBytes(inPEM text: String) throws(Fault) -> [[UInt8]] {
        guard let documents = try? PEMDocument.parseMultiple(pemString: text),
            documents.allSatisfy({ $0.discriminator == Certificate.defaultPEMDiscriminator })
        else { throw .unreadable }
        return documents.map(\.derBytes)
    }
}

/// The subject of a fleet's certificate.
struct FleetSubject {
    let kind: CertificateKind
    /// The short id of the root's key.
    let fleet: String
    let role: FleetRole
    /// The whole id of the owner's key.
    let device: String

    private static let product = "Muster"

    init(_ kind: CertificateKind, of key: DevicePublicKey, fleet: DevicePublicKey, role: FleetRole) {
        self.kind = kind
        self.fleet = fleet.device.short
        self.role = role
        device = key.device.description
    }

    /// Nil for what `name` never writes.
    init?(_ name: DistinguishedName) {
        let attributes = name.flatMap { Array($0) }
        let types: [ASN1ObjectIdentifier] = [
            .RDNAttributeType.organizationName, .RDNAttributeType.organizationalUnitName, .RDNAttributeType.commonName,
        ]
        guard name.count == types.count, attributes.map(\.type) == types else { return nil }
        let texts = attributes.map { String($0.value) }
        let organisation = (texts[0] ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard organisation.count == 3, organisation[0] == Self.product,
            let kind = CertificateKind(rawValue: String(organisation[1])),
            let role = FleetRole(rawValue: texts[1] ?? ""), let device = texts[2]
        else { return nil }
        self.kind = kind
        fleet = String(organisation[2])
        self.role = role
        self.device = device
    }

    /// Under which name a server signs renewals: no certificate has it as its subject, so nobody who builds chains takes the server's own
    /// for an issuer's.
    static func renewer(_ server: FleetCertificate, of fleet: DevicePublicKey) -> DistinguishedName? {
        try? FleetSubject(.renewal, of: server.key, fleet: fleet, role: .server).name
    }

    var name: DistinguishedName {
        get throws {
            try DistinguishedName {
                OrganizationName("\(Self.product) \(kind.rawValue) \(fleet)")
                OrganizationalUnitName(role.rawValue)
                CommonName(device)
            }
        }
    }
}

extension ASN1Node {
    fileprivate var children: [ASN1Node] {
        guard case .constructed(let nodes) = content else { return [] }
        return Array(nodes)
    }
}

extension Date {
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded()) }

    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}
