import Checkup
import LocalAPI
import Replication
import Timekeeping

/// What a finding of the doctor means, and what to do about it.
enum HealthRules {
    /// A wall clock that is further off misleads people, in microseconds.
    static let largestDrift: Int64 = 60_000_000

    /// - Parameter avahi: as it is seen from outside.
    static func discovery(
        _ status: DiscoveryStatus, avahi: AvahiProbe.State, configuredPeers: Int, connected: Int = 0
    ) -> HealthCheck {
        let hasOthers = configuredPeers > 0
        let others = "\(configuredPeers) peer address\(configuredPeers == 1 ? " is" : "es are") configured"
        func broken(_ finding: String, _ remedy: String) -> HealthCheck {
            hasOthers
                ? .warn(.discovery, "\(finding); \(others)", remedy: remedy)
                : .fail(.discovery, finding, remedy: remedy)
        }
        switch (status.state, avahi.fault) {
        case (.off, _) where hasOthers: return .ok(.discovery, "switched off; \(others)")
        // Others have been told of this laptop: that is as good.
        case (.off, _) where connected > 0:
            return .ok(
                .discovery, "switched off; \(connected) \(connected == 1 ? "laptop is" : "laptops are") connected")
        case (.off, _):
            return .warn(
                .discovery, "switched off, and no peer address is configured",
                remedy: "start musterd without --no-discovery, or name a laptop with 'muster peers add HOST:PORT'")
        // The library's questions are kept alive by a bus that does not know of the standstill. Elsewhere the bus may start what
        // does not run, so that what is found counts.
        case (.available, let fault?) where avahi == .silent: return broken(fault.finding, fault.remedy)
        case (.available, _): return .ok(.discovery, "on, through avahi")
        case (.unavailable, let fault?):
            return broken(
                "\(fault.finding), so laptops are not found by themselves",
                "\(fault.remedy), or name a laptop with 'muster peers add HOST:PORT'")
        case (.unavailable, nil):
            guard let reason = status.reason else {
                return .unknown(.discovery, "the search has not begun yet", remedy: "ask again in a moment")
            }
            return broken(reason, status.remedy ?? "see the daemon's log")
        }
    }

    /// - Parameters:
    ///   - port: that is listened on; nil while there is none.
    ///   - waitsForFleet: it listens once the laptop belongs to a fleet, and it belongs to none.
    ///   - interfaces: of this laptop.
    ///   - connected: how many laptops are.
    static func network(
        listen: PeerAddress, port: Int?, isLoopbackOnly: Bool, waitsForFleet: Bool = false,
        interfaces: [NetworkInterface],
        connected: Int
    ) -> HealthCheck {
        if waitsForFleet {
            // To join one it needs a network, too.
            if let fault = Checkup.fault(of: interfaces), fault.outcome == .fail { return fault }
            return .ok(
                .network, "listens nowhere yet; once this laptop is in a fleet, others reach it at port \(listen.port)"
            )
        }
        guard let port else {
            return .fail(
                .network, "\(listen) is not listened on",
                remedy: "see what else uses it (ss -ltnp), or listen elsewhere with --listen HOST:PORT")
        }
        if isLoopbackOnly, connected > 0 {
            // Whoever has arranged it so, through a tunnel or with laptops that it dials itself, knows why.
            return .ok(
                .network,
                "listens on \(listen.host) port \(port) alone; \(connected) laptop\(connected == 1 ? " is" : "s are") connected"
            )
        }
        if isLoopbackOnly {
            return .warn(
                .network, "listens on \(listen.host) port \(port), where no other laptop can connect",
                remedy: "give --listen 0.0.0.0:\(port)")
        }
        // Whoever is connected over a VPN has arranged it so.
        if let fault = Checkup.fault(of: interfaces), connected == 0 || fault.outcome == .fail { return fault }
        let addresses = Checkup.addresses(of: interfaces)
        return .ok(.network, "listens on port \(port), at \(addresses)")
    }

    /// - Parameter future: what is stamped later than it can be.
    static func clock(_ clock: ClockOverview, future: [FutureWork]) -> HealthCheck {
        var findings: [String] = []
        var remedies: [String] = []
        if !clock.isSynchronised {
            let whose = clock.source == nil ? "this laptop's own" : "the crew's, with no server behind it"
            findings.append("unsynchronised: it goes by \(whose)")
            remedies.append("connect the laptop, or one that it meets, to the server")
        }
        if !future.isEmpty {
            findings += FutureFinding.findings(future, nowMilliseconds: clock.time / 1000)
            remedies.append(FutureFinding.remedy)
        }
        if clock.drift.magnitude > largestDrift.magnitude, clock.source != nil {
            let seconds = clock.drift.magnitude / 1_000_000
            findings.append("the wall clock is \(seconds) s \(clock.drift < 0 ? "behind" : "ahead"), corrected for")
            remedies.append("set the wall clock (timedatectl set-ntp true)")
        }
        guard findings.isEmpty else {
            return .warn(.clock, findings.joined(separator: "; "), remedy: remedies.joined(separator: "; "))
        }
        let milliseconds = Double(clock.uncertainty) / 1000
        return .ok(.clock, "synchronised to within \((milliseconds * 10).rounded() / 10) ms")
    }

    /// - Parameters:
    ///   - problems: what SQLite finds wrong.
    ///   - wasRenewed: the store was a copy or set back, and has become a new replica since the daemon started.
    static func store(problems: [String], bytes: UInt64, wasRenewed: Bool) -> HealthCheck {
        if let problem = problems.first {
            return .fail(
                .store, "damaged (\(problem))",
                remedy: "stop musterd, move the state directory aside and start again; the other laptops bring back "
                    + "what they hold")
        }
        guard !wasRenewed else {
            return .warn(
                .store, "sound, \(DiskSpace.text(bytes)); it was a copy and goes on as a new replica",
                remedy: "nothing is lost; see that no second laptop runs from a copy of this one")
        }
        return .ok(.store, "sound, \(DiskSpace.text(bytes))")
    }
}
