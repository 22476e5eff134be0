import CRDT
import Identity
import Synchronization
import Transport

/// A new certificate before the old one ends, or after.
extension FleetIdentity {
    /// How long it is until this laptop's certificate is to be renewed, in milliseconds: from half-way on. Nil without one.
    var untilRenewal: Int64? {
        guard let membership, !isRevoked else { return nil }
        return max(0, membership.validUntil - CertificateAuthority.lifetime(of: .laptop) / 2 - time)
    }

    /// Makes the new one itself, if this laptop is an issuer.
    ///
    /// - Returns: whether it is.
    func renewOwn() async throws -> Bool {
        guard let membership, membership.authority != nil else { return false }
        try await installRenewed(issue(to: publicKey, as: membership.own.role))
        return true
    }

    /// Makes one for a laptop that shows the former one, however old.
    ///
    /// - Returns: nil if there is none for it here.
    func renewed(_ chain: [[UInt8]]) async -> [FleetCertificate]? {
        guard let membership, membership.authority != nil,
            let member = try? await membership.trust.judgeRenewal(chain, now: now, revocations: revocations),
            time >= member.validUntil - CertificateAuthority.lifetime(of: .laptop) / 2
        else { return nil }
        return try? issue(to: member.key, as: member.role)
    }

    /// Takes up what an issuer has made; an older one than there is changes nothing.
    func installRenewed(_ certificates: [FleetCertificate]) async throws {
        guard let membership, let fresh = certificates.first, fresh.notAfter > membership.validUntil,
            certificates.last?.key == membership.trust.root.key
        else { return }
        try await install(certificates.map(\.pem).joined())
    }

    /// Takes up what a server has prolonged this laptop's certificate by.
    ///
    /// - Parameter certificates: in DER: the renewal, the server's own and its issuer's.
    /// - Returns: whether that is longer than what there is, and others will believe it.
    func installProlonged(_ certificates: [[UInt8]]) async throws -> Bool {
        guard let membership, certificates.count == 3,
            let renewal = try? certificates.map({ try FleetCertificate($0) })
        else { return false }
        var fresh = membership
        fresh.renewal = renewal
        let judged = try? await membership.trust.judge(
            fresh.chain.map(\.bytes), now: now, revocations: revocations)
        // It may have left the fleet meanwhile, or been given another certificate.
        guard let judged, judged.validUntil > membership.validUntil, self.membership?.own == membership.own else {
            return false
        }
        try files?.write(fresh.pem, to: FleetFiles.chain)
        change { state in
            if state.membership?.own == membership.own { state.membership?.renewal = renewal }
            state.forgetVoidRenewal()
        }
        return true
    }

    /// Whether a peer may be one that gives this laptop a new certificate; its own may have run out meanwhile.
    func isOfFleet(_ chain: [[UInt8]]) async -> Bool {
        guard let trust = membership?.trust else { return false }
        return (try? await trust.judgeRenewal(chain, now: now, revocations: revocations)) != nil
    }
}
