import Identity
import LocalAPI

/// How a laptop stands in its fleet, as the doctor sees it.
struct FleetStanding: Sendable {
    let role: FleetRole
    /// When its own certificate ends, in milliseconds since 1970.
    let validUntil: Int64
    /// When its right to let others in ends; nil without one.
    let issuerUntil: Int64?
    let isRevoked: Bool
    /// Whoever has let this laptop in was shut out.
    let isIssuerRevoked: Bool
    /// Corrected time, in milliseconds since 1970.
    let now: Int64
}

extension HealthRules {
    private static let day: Int64 = 86_400_000
    /// An issuer's right is renewed with the root, which lies in a drawer somewhere else: that takes a while.
    private static let issuerNotice = 60 * day
    /// A certificate is renewed from half-way on: who has come so near its end has met nobody who could.
    private static let notice = 14 * day

    /// - Parameters:
    ///   - standing: nil for a laptop without a fleet.
    ///   - damage: why its place in one cannot be read.
    static func fleet(_ standing: FleetStanding?, damage: FleetIdentity.Damage? = nil) -> HealthCheck {
        if let damage {
            return .fail(
                .fleet, "work goes on, on this laptop alone, without others and the server: \(damage.finding)",
                remedy: damage.remedy)
        }
        guard let standing else {
            return .warn(
                .fleet, "this laptop is in no fleet, and exchanges nothing with others",
                remedy: "let one that is in it invite this one (muster fleet invite), and join by its code")
        }
        if standing.isRevoked || standing.isIssuerRevoked {
            let who = standing.isRevoked ? "this laptop" : "whoever let this laptop in"
            return .fail(
                .fleet, "\(who) was revoked: nobody talks to it any more",
                remedy: "if that is a mistake, leave the fleet (muster fleet leave), and join it anew by a code")
        }
        let left = standing.validUntil - standing.now
        let issuer = "stay in one network with a laptop that lets others in, or reach the server, until it is renewed"
        switch left {
        case ..<(-FleetTrust.grace):
            return .fail(.fleet, "the certificate ran out \(days(-left)) ago", remedy: issuer)
        case ..<0:
            return .warn(
                .fleet,
                "the certificate ran out \(days(-left)) ago; others still talk to this laptop for "
                    + days(left + FleetTrust.grace), remedy: issuer)
        default: break
        }
        let member = "\(standing.role.rawValue), certificate good for \(days(left))"
        if let until = standing.issuerUntil, until - standing.now < issuerNotice {
            return .warn(
                .fleet, "\(member); the right to let others in ends in \(days(until - standing.now))",
                remedy: "have it renewed with the fleet's root (muster fleet sign --root)")
        }
        if left < notice {
            return .warn(
                .fleet, "\(standing.role.rawValue), the certificate ends in \(days(left)), and nobody has renewed it",
                remedy: issuer)
        }
        return .ok(.fleet, member)
    }

    private static func days(_ milliseconds: Int64) -> String {
        let count = max(0, milliseconds / day)
        return "\(count) day\(count == 1 ? "" : "s")"
    }
}
