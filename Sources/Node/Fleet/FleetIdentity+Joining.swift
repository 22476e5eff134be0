import CRDT
import Enrolment
package import Identity
import Synchronization
import Transport

/// Joining a fleet, letting others in, and leaving.
extension FleetIdentity: JoiningDevice {
    package var isServer: Bool { false }

    /// Before it has left its own it does not begin to join.
    package func objection(to fleet: FleetTrust) -> String? { nil }

    /// What an issuer needs to know of this laptop: PKCS #10 in PEM.
    var request: String {
        get throws(Fault) {
            do { return try SigningRequest(state.withLock { $0.key }).pem } catch { throw .unusable("\(error)") }
        }
    }

    /// This laptop's membership, if it may let in others who do that much.
    func issuing(_ role: FleetRole) throws(Fault) -> Membership {
        let (membership, authority) = try authorised()
        guard role != .proxy else {
            throw .unusable("A proxy is let in by file; see 'muster fleet sign --help'.")
        }
        guard role <= authority.certificate.role else {
            throw .unusable(CertificateAuthority.Refusal.roleTooHigh(mine: authority.certificate.role).sentence)
        }
        return membership
    }

    private func authorised() throws(Fault) -> (Membership, CertificateAuthority) {
        guard let membership else { throw .notEnrolled }
        guard let authority = membership.authority else { throw .notIssuer }
        guard !isRevoked else { throw .revoked }
        return (membership, authority)
    }

    /// Makes a certificate for another laptop.
    ///
    /// - Parameter request: as in `request`.
    /// - Returns: what the other one installs.
    func sign(_ request: String, as role: FleetRole) throws(Fault) -> String {
        let key: DevicePublicKey
        do { key = try SigningRequest.key(inPEM: request) } catch { throw .unusable(error.sentence) }
        return try issue(to: key, as: role).map(\.pem).joined()
    }

    /// Makes a certificate for another laptop's key.
    ///
    /// - Returns: the laptop's, its issuer's and the root's.
    func issue(to key: DevicePublicKey, as role: FleetRole) throws(Fault) -> [FleetCertificate] {
        let (membership, authority) = try authorised()
        guard !revocations.contains(key.device) else { throw .unusable(FleetTrust.Refusal.revoked.sentence) }
        guard mayBecome(role, key) else {
            throw .unusable("No key is a laptop's and a server's; make the request on the device that is meant.")
        }
        do {
            let certificate = try authority.issue(.laptop, to: key, as: role, now: time, certain: now.earliest)
            note(FleetMember(certificate, issuer: authority.certificate, now: now))
            return [certificate, authority.certificate, membership.trust.root]
        } catch let fault as any IdentityFault {
            throw .unusable(fault.sentence)
        } catch {
            throw .unusable("The certificate could not be made (\(error)); try again.")
        }
    }

    /// Whether a key may get a certificate of a role: as far as this laptop knows, no laptop's key is a server's.
    func mayBecome(_ role: FleetRole, _ key: DevicePublicKey) -> Bool {
        let known = state.withLock { $0.known[key.device] }.flatMap { FleetRole(rawValue: $0.role) }
        return known.map(role.isSameKind) ?? true
    }

    /// Takes up what an issuer, or the root, has made for this laptop.
    ///
    /// - Parameter pem: the laptop's certificate or one that lets it issue, then those above it, the root's last.
    package func install(_ pem: String) async throws {
        let key = state.withLock { $0.key }
        let fresh = try await Self.membership(pem, of: key, now: now, time: time)
        if let membership, membership.trust.root.key != fresh.trust.root.key { throw Fault.enrolled }
        try files?.write(fresh.pem, to: FleetFiles.chain)
        if let authority = fresh.authority { try files?.write(authority.certificate.pem, to: FleetFiles.issuer) }
        change { state in
            let authority = fresh.authority ?? state.membership?.authority
            state.membership = Membership(
                trust: fresh.trust, own: fresh.own, issuer: fresh.issuer, authority: authority)
        }
    }

    /// Another laptop has this one's key, or this one leaves its fleet: it makes a new one, and has to join anew.
    func renewKey() throws -> FleetSigner {
        let key = try files.map(Self.makeKey) ?? DeviceKey()
        change { state in
            state.key = key
            state.leave()
        }
        return FleetSigner(self)
    }

    static func membership(
        _ pem: String, of key: DeviceKey, now: TimeBounds, time: Int64
    ) async throws -> Membership {
        guard let all = try? FleetCertificate.all(inPEM: pem), let first = all.first, let last = all.last,
            let trust = FleetTrust(root: last)
        else { throw Fault.unusable("These are no certificates of a fleet; give what 'muster fleet sign' printed.") }
        guard first.key == key.publicKey else {
            throw Fault.unusable("The certificate is another laptop's; have one made from this laptop's own request.")
        }
        guard first.role.isLaptops else {
            throw Fault.unusable(
                "The certificate is for a server, and this is a laptop; have one made with another role.")
        }
        if first.kind == .issuer {
            guard all.count == 2, await trust.isIssuer(first, now: now) else {
                throw Fault.unusable("The right to issue is not from this fleet's root, or has run out.")
            }
            let authority = try CertificateAuthority(first, key: key, fleet: trust.root.key)
            let own = try authority.issue(
                .laptop, to: key.publicKey, as: first.role, now: time, certain: now.earliest)
            return Membership(trust: trust, own: own, issuer: first, authority: authority)
        }
        do throws(FleetTrust.Refusal) {
            _ = try await trust.judge(all.dropLast().map(\.bytes), now: now, revocations: RevocationLog())
        } catch {
            throw Fault.unusable(error.sentence)
        }
        return Membership(trust: trust, own: first, issuer: all[1], authority: nil)
    }
}
