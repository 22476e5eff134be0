import Engine
import LocalAPI

extension HealthRules {
    /// What nobody but a person at this laptop can settle.
    static func queue(_ queue: QueueStatus) -> HealthCheck {
        var (findings, remedies): ([String], [String]) = ([], [])
        if queue.rejected > 0 {
            findings.append("the office has rejected \(requests(queue.rejected))")
            remedies.append("see why with 'muster queue list', then 'muster queue drop TOKEN'")
        }
        if queue.isPaused || !queue.pausedJobs.isEmpty {
            let jobs = queue.pausedJobs.map { "'\($0.jobName ?? $0.job)'" }.joined(separator: ", ")
            let what = queue.isPaused ? "everything of this laptop" : "what concerns \(jobs)"
            findings.append(
                "\(what) is paused: \(queue.paused == 0 ? "nothing" : requests(queue.paused)) waits for that")
            remedies.append("'muster queue resume' goes on")
        }
        guard !findings.isEmpty else { return .ok(.queue, "nothing waits for a person") }
        return .warn(.queue, findings.joined(separator: "; "), remedy: remedies.joined(separator: "; "))
    }

    private static func requests(_ count: Int) -> String { "\(count) request\(count == 1 ? "" : "s")" }

    /// - Parameters:
    ///   - address: of the server; nil when none is configured.
    ///   - standing: nil without one.
    static func server(
        _ address: String?, standing: ServerStanding?, queue: QueueStatus
    ) -> HealthCheck {
        let waiting = queue.pending == 0 ? "" : "; \(requests(queue.pending)) on the way"
        guard let address, let standing else {
            guard queue.pending > 0 else { return .ok(.server, "none is configured") }
            return .warn(
                .server, "none is configured\(waiting)",
                remedy: "meet a laptop that has the internet, or start musterd with --server URL")
        }
        if !standing.behind.isEmpty {
            return .fail(
                .server, "\(address) has lost part of what it had said",
                remedy: "tell the office: its database was set back")
        }
        if !standing.foreign.isEmpty {
            let jobs = standing.foreign.count == 1 ? "one job" : "\(standing.foreign.count) jobs"
            return .fail(
                .server,
                "of \(jobs) this laptop holds what another server said before it joined its fleet, "
                    + "and takes nothing from \(address)",
                remedy: "once others hold its work ('muster job check'), set this laptop up anew: stop musterd, move "
                    + "its state directory aside and keep it, start it, and let it join")
        }
        switch standing.state {
        case .reached: return .ok(.server, "\(address) answers\(waiting)")
        case .unknown:
            return .unknown(
                .server, "\(address) has not been asked yet\(waiting)", remedy: "ask again in a moment")
        case .noRoute:
            return .warn(
                .server, "there is no route to \(address)\(waiting)",
                remedy: "nothing is lost: it goes on when there is one")
        case .unreachable(let reason):
            return .warn(
                .server, "\(address) is not reached: \(reason)\(waiting)",
                remedy: "check the connection; nothing is lost")
        case .unhealthy(let reason):
            return .warn(.server, "\(address) is not well: \(reason)\(waiting)", remedy: "tell the office if it lasts")
        case .unauthorised(let reason):
            return .fail(
                .server, "\(address) does not let this laptop in: \(reason)\(waiting)",
                remedy: "see 'muster fleet show'; the office sees the server's place with 'muster-channel fleet show'")
        }
    }
}
