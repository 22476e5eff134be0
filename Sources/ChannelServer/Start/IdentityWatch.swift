import HTTPCoding
import Identity
import Logging
import ServiceLifecycle
import Synchronization

/// Hears of certificates that were installed while the server runs, and tells its people once a day when laptops will not talk to
/// it.
struct IdentityWatch: Service {
    private static let interval = Duration.seconds(2)
    private static let day = Duration.seconds(86_400)

    let identity: ServerIdentity
    let now: WallClock
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var told: (sentence: String, at: ContinuousClock.Instant)?
            repeat {
                do {
                    try await identity.refresh()
                } catch {
                    // Whoever is told to stop in the midst of it has been refused for that.
                    if Task.isCancelled { return }
                    logger.warning("the server's certificates cannot be looked at", metadata: ["error": "\(error)"])
                }
                let sentence = Self.trouble(
                    of: identity.member, revocations: identity.revocations.withLock { $0 },
                    now: now.microseconds / 1_000)
                if let sentence, told.map({ $0.sentence != sentence || $0.at + Self.day < .now }) ?? true {
                    logger.warning("\(sentence)")
                    told = (sentence, .now)
                }
            } while (try? await Task.sleep(for: Self.interval)) != nil
        }
    }

    /// Before the end, from when on people are told: nothing renews it by itself. In milliseconds.
    static let notice: Int64 = 60 * 86_400_000

    /// Why laptops do not talk to this server, or soon will not; nil when all is well, and without a fleet, which is said at the start.
    ///
    /// - Parameter now: by this machine's clock, in milliseconds since 1970.
    static func trouble(of member: FleetMember?, revocations: RevocationLog, now: Int64) -> String? {
        guard let member else { return nil }
        if revocations.contains(member.key.device) {
            return "this server's key was revoked, and no laptop talks to it: see 'muster-channel fleet --help'"
        }
        if revocations.contains(member.issuer.device) {
            return "who let this server in was revoked, and no laptop talks to it: "
                + "let another issuer sign it ('muster-channel fleet --help')"
        }
        if now < member.signedAfter {
            return "by this machine's clock the server's certificate does not hold yet: set the clock"
        }
        guard member.validUntil - now < notice else { return nil }
        let end = Timestamp(milliseconds: member.validUntil)
        return "the server's certificate ends on \(end): "
            + "have it signed again ('muster-channel fleet --help'), or set this machine's clock"
    }
}
