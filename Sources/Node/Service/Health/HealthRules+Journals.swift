import CRDT
import Engine
import HTTPCoding
import LocalAPI

extension HealthRules {
    /// - Parameter forgeries: since the daemon started.
    static func journals(_ forgeries: [Forgery]) -> HealthCheck {
        let name = "journals"
        guard !forgeries.isEmpty else {
            return HealthCheck(name, .ok, "all that was received is signed by its author")
        }
        let findings = forgeries.map { forgery in
            let who = forgery.device.map { "\(forgery.name) (\($0.short))" } ?? "the server"
            let times = forgery.count == 1 ? "once" : "\(forgery.count) times"
            return "\(who) passed on, \(times), what its author has not signed (refused; last at "
                + "\(Timestamp(milliseconds: Int64(clamping: forgery.last))))"
        }
        let laptops = forgeries.compactMap { $0.device == nil ? nil : $0.name }
        let remedy =
            laptops.isEmpty
            ? "tell whoever runs the server: what it holds was altered"
            : "find out who has \(laptops.joined(separator: ", ")), and shut it out if nobody should (muster fleet revoke)"
        return HealthCheck(name, .failed, findings.joined(separator: "; "), remedy: remedy)
    }
}
