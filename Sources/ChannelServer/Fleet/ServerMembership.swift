import Identity
import Systemd

/// A server's place in its fleet.
struct ServerMembership: Sendable {
    /// What it was read from.
    let pem: String
    let trust: FleetTrust
    /// The server's own and its issuer's, in DER.
    let certificates: [[UInt8]]
    let member: FleetMember

    /// Reads what `muster fleet sign` has made for a key.
    ///
    /// - Throws: `StartProblem`.
    init(_ pem: String, of key: DevicePublicKey) async throws(StartProblem) {
        guard let all = try? FleetCertificate.all(inPEM: pem), let first = all.first, let last = all.last,
            let trust = FleetTrust(root: last)
        else {
            throw StartProblem(.badData, "These are no certificates of a fleet; give what 'muster fleet sign' printed.")
        }
        guard first.key == key else {
            throw StartProblem(
                .badData,
                "The certificate is another one's; have one made from what 'muster-channel fleet request' prints.")
        }
        let certificates = all.dropLast().map(\.bytes)
        guard let member = await trust.letIn(key.bytes, by: certificates, now: .since(0)) else {
            throw StartProblem(
                .badData, "Nobody has signed these who may; have them made again with 'muster fleet sign'.")
        }
        guard member.role == .server else {
            throw StartProblem(
                .badData,
                "The certificate is for a laptop, not for a server; have one made with 'muster fleet sign --role server'."
            )
        }
        self.pem = pem
        self.trust = trust
        self.certificates = certificates
        self.member = member
    }
}
