import Identity
import ServerChannel
import Synchronization

extension ServerIdentity {
    /// Prolongs the certificate of a laptop that an issuer has let in, however old it is. That lets nobody in: it counts beside the
    /// issuer's certificate only.
    ///
    /// - Parameters:
    ///   - chain: of a key that the caller has proved, in DER.
    ///   - time: the server's own, in milliseconds since 1970.
    /// - Returns: in DER: the renewal, the server's own certificate and its issuer's.
    /// - Throws: `ChannelProblem` for who is not of the fleet, and while nobody would believe this server.
    func renewal(showing chain: [[UInt8]], at time: Int64) async throws(ChannelProblem) -> [[UInt8]] {
        let log = revocations.withLock { $0 }
        guard let trust, let own = member, let server = try? certificates.first.map({ try FleetCertificate($0) }),
            !log.contains(own.key.device), !log.contains(own.issuer.device)
        else { throw ChannelProblem(.unavailable, "This server may not renew certificates; tell the office.") }
        let caller: FleetMember
        do throws(FleetTrust.Refusal) {
            caller = try await trust.judgeRenewal(chain, now: TimeBounds(time, within: 0), revocations: log)
            guard caller.role.isLaptops else { throw .noLaptop }
        } catch {
            throw ChannelProblem(.unauthorised, error.sentence)
        }
        let renewal = try? CertificateAuthority.renewal(
            of: caller, by: server, key: key, fleet: trust.root.key, now: time)
        guard let renewal else {
            throw ChannelProblem(
                .unavailable, "The server's own certificate does not hold by its clock; tell the office.")
        }
        return [renewal.bytes] + certificates.prefix(2)
    }
}
