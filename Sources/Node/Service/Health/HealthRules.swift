import LocalAPI
import Replication
import Timekeeping

/// What a finding of the doctor means, and what to do about it.
enum HealthRules {
    /// Below this a day's photos and a checkpoint may not fit; in bytes.
    static let scarceBytes: UInt64 = 1_000_000_000
    /// Below this nothing can be promised.
    static let leastBytes: UInt64 = 100_000_000
    /// A wall clock that is further off misleads people, in microseconds.
    static let largestDrift: Int64 = 60_000_000

    static func discovery(_ status: DiscoveryStatus, configuredPeers: Int) -> HealthCheck {
        let name = "discovery"
        let hasOthers = configuredPeers > 0
        let others = "\(configuredPeers) peer address\(configuredPeers == 1 ? " is" : "es are") configured"
        switch status.state {
        case .available: return HealthCheck(name, .ok, "on, through avahi")
        case .off where hasOthers: return HealthCheck(name, .ok, "switched off; \(others)")
        case .off:
            return HealthCheck(
                name, .warning, "switched off, and no peer address is configured",
                remedy: "start musterd without --no-discovery, or name a laptop with --peer HOST:PORT")
        case .unavailable:
            let reason = status.reason ?? "not available"
            return HealthCheck(
                name, hasOthers ? .warning : .failed, hasOthers ? "\(reason); \(others)" : reason,
                remedy: status.remedy ?? "see the daemon's log")
        }
    }

    /// - Parameters:
    ///   - port: that is listened on; nil while there is none.
    ///   - waitsForFleet: it listens once the laptop belongs to a fleet, and it belongs to none.
    ///   - addresses: of this laptop, beyond loopback.
    ///   - connected: how many laptops are.
    static func network(
        listen: PeerAddress, port: Int?, isLoopbackOnly: Bool, waitsForFleet: Bool = false, addresses: [String],
        connected: Int
    ) -> HealthCheck {
        let name = "network"
        if waitsForFleet {
            return HealthCheck(
                name, .ok, "listens nowhere yet; once this laptop is in a fleet, others reach it at port \(listen.port)"
            )
        }
        guard let port else {
            return HealthCheck(
                name, .failed, "\(listen) is not listened on",
                remedy: "see what else uses it (ss -ltnp), or listen elsewhere with --listen HOST:PORT")
        }
        if isLoopbackOnly, connected > 0 {
            // Whoever has arranged it so, through a tunnel or with laptops that it dials itself, knows why.
            return HealthCheck(
                name, .ok,
                "listens on \(listen.host) port \(port) alone; \(connected) laptop\(connected == 1 ? " is" : "s are") connected"
            )
        }
        if isLoopbackOnly {
            return HealthCheck(
                name, .warning, "listens on \(listen.host) port \(port), where no other laptop can connect",
                remedy: "give --listen 0.0.0.0:\(port)")
        }
        guard !addresses.isEmpty else {
            return HealthCheck(
                name, .failed, "listens on port \(port), but this laptop has no address on any network",
                remedy: "join the crew's network")
        }
        return HealthCheck(name, .ok, "listens on port \(port), at \(addresses.joined(separator: ", "))")
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
            return HealthCheck(
                "clock", .warning, findings.joined(separator: "; "), remedy: remedies.joined(separator: "; "))
        }
        let milliseconds = Double(clock.uncertainty) / 1000
        return HealthCheck("clock", .ok, "synchronised to within \((milliseconds * 10).rounded() / 10) ms")
    }

    /// - Parameter free: for this user where the store lies, in bytes; nil if the system does not tell.
    static func disk(free: UInt64?, directory: String) -> HealthCheck {
        let name = "disk"
        guard let free else {
            return HealthCheck(
                name, .failed, "the state directory \(directory) cannot be looked at",
                remedy: "check that its disk is mounted")
        }
        let finding = "\(size(free)) free at \(directory)"
        guard free < scarceBytes else { return HealthCheck(name, .ok, finding) }
        return HealthCheck(name, free < leastBytes ? .failed : .warning, finding, remedy: "make room there")
    }

    /// - Parameters:
    ///   - problems: what SQLite finds wrong.
    ///   - wasRenewed: the store was a copy or set back, and has become a new replica since the daemon started.
    static func store(problems: [String], bytes: UInt64, wasRenewed: Bool) -> HealthCheck {
        let name = "store"
        if let problem = problems.first {
            return HealthCheck(
                name, .failed, "damaged (\(problem))",
                remedy: "stop musterd, move the state directory aside and start again; the other laptops bring back "
                    + "what they hold")
        }
        guard !wasRenewed else {
            return HealthCheck(
                name, .warning, "sound, \(size(bytes)); it was a copy and goes on as a new replica",
                remedy: "nothing is lost; see that no second laptop runs from a copy of this one")
        }
        return HealthCheck(name, .ok, "sound, \(size(bytes))")
    }

    /// In decimal units with one digit of fraction.
    static func size(_ bytes: UInt64) -> String {
        let units: [(UInt64, String)] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")]
        guard let (unit, name) = units.first(where: { bytes >= $0.0 }) else { return "\(bytes) B" }
        return "\(bytes / unit).\(bytes % unit * 10 / unit) \(name)"
    }
}
