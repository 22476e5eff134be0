package import CRDT
import FoundationEssentials
@_spi(FixedExpiryValidationTime) import X509

/// Whom a chain of certificates lets in.
package struct FleetMember: Hashable, Sendable {
    /// How its certificate stands.
    package enum Standing: Hashable, Sendable {
        /// It holds.
        case valid
        /// It has run out lately: the laptop goes on with what it has, and gets nothing new.
        case grace
    }

    /// The key that TLS has to prove.
    package let key: DevicePublicKey
    /// Who has let it in.
    package let issuer: DevicePublicKey
    /// What it may do.
    package let role: FleetRole
    /// Whether it should be renewed at once.
    package let standing: Standing
    /// The time at which it was signed, at the earliest, in milliseconds since 1970: it is later by now.
    package let signedAfter: Int64
    /// When its certificate ends, or what a server has prolonged it to, in milliseconds since 1970.
    package let validUntil: Int64

    /// Takes a certificate that was judged, or issued.
    ///
    /// - Parameter end: of what prolongs the certificate.
    package init(
        _ certificate: FleetCertificate, issuer: FleetCertificate, prolongedTo end: Int64 = 0, now: TimeBounds
    ) {
        key = certificate.key
        self.issuer = issuer.key
        role = certificate.role
        // A server's word of what time is past would not be worth an issuer's.
        signedAfter = certificate.notBefore
        validUntil = max(certificate.notAfter, end)
        standing = now.earliest > validUntil ? .grace : .valid
    }
}

/// Decides who belongs to a fleet. It knows the root's certificate and nothing else: nobody else is trusted.
package struct FleetTrust: Sendable {
    /// Why a chain lets nobody in.
    package enum Refusal: Error, Hashable, Sendable {
        /// Not two certificates, the laptop's own and its issuer's.
        case length(Int)
        case unreadable
        /// It is in no fleet, and shows a certificate that it has signed itself.
        case newcomer
        /// Nobody of this fleet has signed it.
        case otherFleet
        /// Its key, or that of its issuer, was shut out for good.
        case revoked
        /// A laptop has acted as an issuer, or an issuer has given more than it may.
        case notAllowed
        /// It ran out, and so did the time in which it would have been renewed.
        case ranOut
        /// It does not hold yet.
        case tooYoung
        /// A server shows itself where laptops are expected.
        case noLaptop

        /// For logs and for people, with what to do.
        package var sentence: String {
            switch self {
            case .length(let count): "It showed \(count) certificates instead of two; update the older one."
            case .newcomer: "It is in no fleet yet; let it in with 'muster fleet invite'."
            case .unreadable: "Its certificates cannot be read; let it join again."
            case .otherFleet: "It belongs to another fleet, or to none; let it join this one first."
            case .revoked:
                "It was revoked; if that is a mistake, let it leave the fleet, take a new key, and join again."
            case .notAllowed: "Its certificate was issued by someone who may not do so; let it join again."
            case .ranOut: "Its certificate ran out long ago; let it join again."
            case .tooYoung: "Its certificate does not hold yet; compare the clocks of both laptops."
            case .noLaptop: "Its certificate is a server's; let it join again as a laptop."
            }
        }
    }

    /// How long after its end a certificate still lets its owner go on, in milliseconds.
    package static let grace: Int64 = 45 * 86_400_000

    /// Of the fleet.
    package let root: FleetCertificate

    /// Takes a root certificate; nil when it is none, or not signed by its own key.
    package init?(root: FleetCertificate) {
        guard root.kind == .root,
            root.certificate.publicKey.isValidSignature(root.certificate.signature, for: root.certificate)
        else { return nil }
        self.root = root
    }

    /// The fleet's short id: eight hexadecimal digits.
    package var short: String { root.key.device.short }

    /// Looks at what a peer has shown. That it has the key, TLS proves.
    ///
    /// - Parameters:
    ///   - chain: in DER; the laptop's certificate first, then its issuer's. A server's renewal may stand in front of them, and behind
    ///     them the server's own and its issuer's.
    ///   - now: as far as it is known.
    ///   - revocations: that are known.
    package func judge(
        _ chain: [[UInt8]], now: TimeBounds, revocations: RevocationLog
    ) async throws(Refusal) -> FleetMember {
        let member = try await judgeRenewal(chain, now: now, revocations: revocations)
        if member.signedAfter > now.latest { throw .tooYoung }
        if now.earliest > member.validUntil + Self.grace { throw .ranOut }
        return member
    }

    /// The same without asking whether it holds now: who was let in once may have its certificate renewed, however late.
    package func judgeRenewal(
        _ chain: [[UInt8]], now: TimeBounds, revocations: RevocationLog
    ) async throws(Refusal) -> FleetMember {
        guard let first = chain.first, (try? FleetCertificate(first))?.kind == .renewal else {
            let leaf = try await member(chain, near: now, revocations: revocations)
            return FleetMember(leaf.certificate, issuer: leaf.issuer, now: now)
        }
        return try await judgeProlonged(chain, now: now, revocations: revocations)
    }

    /// A renewal lets nobody in: who is shown, and what it may do, say the two certificates behind it, and those alone.
    private func judgeProlonged(
        _ chain: [[UInt8]], now: TimeBounds, revocations: RevocationLog
    ) async throws(Refusal) -> FleetMember {
        guard chain.count == 5, let renewal = try? FleetCertificate(chain[0]) else { throw .notAllowed }
        let former = try await member(Array(chain[1...2]), near: now, revocations: revocations)
        // Before all else: TLS has proved the key of the renewal, and it is the other one that was let in.
        guard renewal.key == former.certificate.key, renewal.role == former.certificate.role, renewal.role.isLaptops
        else { throw .notAllowed }
        let isGood = try await isGood(renewal, by: Array(chain[3...4]), near: now, revocations: revocations)
        return FleetMember(
            former.certificate, issuer: former.issuer, prolongedTo: isGood ? renewal.notAfter : 0, now: now)
    }

    /// Whether a server's renewal counts.
    ///
    /// - Returns: false if it does not yet, or not any more: then it is as if it were not there, so that whom a server has prolonged before
    ///   it was revoked needs no new invitation.
    /// - Throws: if it never did.
    private func isGood(
        _ renewal: FleetCertificate, by chain: [[UInt8]], near now: TimeBounds, revocations: RevocationLog
    ) async throws(Refusal) -> Bool {
        let server: FleetCertificate
        do throws(Refusal) {
            server = try await member(chain, near: now, revocations: revocations).certificate
        } catch {
            guard error == .revoked else { throw .notAllowed }
            return false
        }
        guard server.role == .server, renewal.isRenewal(by: server, of: root.key),
            renewal.notBefore >= server.notBefore, renewal.notAfter <= server.notAfter
        else { throw .notAllowed }
        return renewal.notBefore <= now.latest
    }

    /// Who has a key, if it was let into this fleet at some time, whatever became of it since.
    ///
    /// - Parameter chain: as in `judge`, without a renewal, which has no say in that.
    package func letIn(_ key: [UInt8], by chain: [[UInt8]], now: TimeBounds) async -> FleetMember? {
        guard let leaf = try? await member(chain, near: now, revocations: RevocationLog()),
            leaf.certificate.key.bytes == key
        else { return nil }
        return FleetMember(leaf.certificate, issuer: leaf.issuer, now: now)
    }

    /// Who a journal's author is, or was, in this fleet, if that is what it says: a server writes channels and nothing else, and nobody
    /// else does.
    package func member(_ author: JournalAuthor, now: TimeBounds) async -> FleetMember? {
        let found = await letIn(author.key, by: author.certificates, now: now)
        return found.map { author.isServer ? $0.role == .server : $0.role.isLaptops } == true ? found : nil
    }

    private func member(
        _ chain: [[UInt8]], near now: TimeBounds, revocations: RevocationLog
    ) async throws(Refusal) -> (certificate: FleetCertificate, issuer: FleetCertificate) {
        if chain.count == 1, let newcomer = try? FleetCertificate(chain[0]), newcomer.kind == .newcomer {
            throw .newcomer
        }
        // Where a person keeps all that 'muster fleet sign' has printed, the root is behind them.
        let chain = chain.count == 3 && chain.last == root.bytes ? Array(chain.dropLast()) : chain
        guard chain.count == 2 else { throw .length(chain.count) }
        guard let leaf = try? FleetCertificate(chain[0]), let issuer = try? FleetCertificate(chain[1]) else {
            throw .unreadable
        }
        try await verify(leaf, issuedBy: issuer, at: moment(in: leaf, now: now))
        // A key that its thief still has is shut out, and so is whoever it may have let in.
        for key in [leaf.key, issuer.key] where revocations.contains(key.device) { throw .revoked }
        guard leaf.kind == .laptop, issuer.kind == .issuer, leaf.role <= issuer.role else { throw .notAllowed }
        return (leaf, issuer)
    }

    /// Whether an issuer's certificate is the root's work and holds.
    package func isIssuer(_ certificate: FleetCertificate, now: TimeBounds) async -> Bool {
        guard certificate.kind == .issuer, now.earliest <= certificate.notAfter else { return false }
        return await isTrusted(certificate, over: [], at: moment(in: certificate, now: now))
    }

    /// Whether an issuer's certificate is the root's work and held at a time.
    func isIssuer(_ certificate: FleetCertificate, at time: Int64) async -> Bool {
        guard certificate.kind == .issuer, (certificate.notBefore...certificate.notAfter).contains(time) else {
            return false
        }
        return await isTrusted(certificate, over: [], at: time)
    }

    /// A time at which the certificate holds, if there is one, as near as can be to now: what is asked of the clock
    /// itself is asked apart, because a grace follows.
    private func moment(in certificate: FleetCertificate, now: TimeBounds) -> Int64 {
        min(max(now.earliest, certificate.notBefore), certificate.notAfter)
    }

    private func verify(
        _ leaf: FleetCertificate, issuedBy issuer: FleetCertificate, at moment: Int64
    ) async throws(Refusal) {
        if await isTrusted(leaf, over: [issuer], at: moment) { return }
        // Of a chain that is not trusted it helps to know whether the issuer was.
        guard await isTrusted(issuer, over: [], at: moment) else { throw .otherFleet }
        throw .notAllowed
    }

    /// RFC 5280 section 6.1, at a fixed time.
    private func isTrusted(
        _ leaf: FleetCertificate, over issuers: [FleetCertificate], at moment: Int64
    ) async -> Bool {
        var verifier = Verifier(rootCertificates: CertificateStore([root.certificate])) {
            RFC5280Policy(fixedExpiryValidationTime: Date(milliseconds: moment))
        }
        let result = await verifier.validate(
            leaf: leaf.certificate, intermediates: CertificateStore(issuers.map(\.certificate)))
        guard case .validCertificate(let chain) = result else { return false }
        return chain.count == issuers.count + 2
    }
}
