import CRDT
import Engine
import HTTPCoding
import LocalAPI

extension HealthRules {
    /// - Parameter refused: since the daemon started.
    static func journals(_ refused: [RefusedWork]) -> HealthCheck {
        guard !refused.isEmpty else {
            return .ok(.signatures, "all that was received is signed by its author")
        }
        let forged = refused.filter { $0.cause == .unsigned }
        let others = refused.filter { $0.cause != .unsigned }
        let findings = (forged + others).map(finding).joined(separator: "; ")
        let laptops = forged.compactMap { $0.device == nil ? nil : $0.name }
        guard !forged.isEmpty else {
            return .warn(
                .signatures, findings,
                remedy: [
                    others.contains { $0.cause == .otherServer }
                        ? "if it is your server, let it into the fleet (muster-channel fleet --help)" : nil,
                    others.contains { $0.cause == .unvouched }
                        ? "if it is one of your laptops, let it join the fleet (muster fleet invite)" : nil,
                ].compactMap(\.self).joined(separator: "; ") + "; else there is nothing to do")
        }
        let remedy =
            laptops.isEmpty
            ? "tell whoever runs the server: what it holds was altered"
            : "find out who has \(laptops.joined(separator: ", ")), and shut it out if nobody should (muster fleet revoke)"
        return .fail(.signatures, findings, remedy: remedy)
    }

    private static func finding(_ work: RefusedWork) -> String {
        let times = work.count == 1 ? "once" : "\(work.count) times"
        let last = "(refused; last at \(Timestamp(milliseconds: Int64(clamping: work.last))))"
        switch work.cause {
        case .unsigned:
            let who = work.device.map { "\(work.name) (\($0.short))" } ?? "the server"
            return "\(who) passed on, \(times), what its author has not signed \(last)"
        case .otherServer:
            return "words of server \(work.device?.short ?? ""), which is not of this fleet, came \(times) \(last)"
        case .unvouched:
            return "work of \(work.device?.short ?? ""), whom this fleet does not let write, came \(times) \(last)"
        }
    }
}
