package import LocalAPI

/// What can be looked at without a daemon: `muster doctor` does so when none answers.
package enum Checkup {
    /// What is wrong with the networks that this laptop is on; nil where others can be on one of them.
    package static func fault(of interfaces: [NetworkInterface]) -> HealthCheck? {
        guard !interfaces.isEmpty else {
            return .fail(.network, "this laptop has no address on any network", remedy: "join the crew's network")
        }
        guard interfaces.allSatisfy({ $0.kind != .network }) else { return nil }
        let names = interfaces.map { "\($0.name) (\($0.kind == .tunnel ? "a VPN" : "for containers"))" }
        return .warn(
            .network, "this laptop is on no network of a crew: it has \(names.joined(separator: ", ")) alone",
            remedy:
                "join the crew's Wi-Fi, or plug in its cable; a laptop behind a VPN is named with 'muster peers add HOST:PORT'"
        )
    }

    /// The addresses at which others may reach this laptop, as a list for people.
    package static func addresses(of interfaces: [NetworkInterface]) -> String {
        interfaces.flatMap(\.addresses).sorted().joined(separator: ", ")
    }

    /// Everything in its order, while the daemon does not answer.
    ///
    /// - Parameters:
    ///   - daemon: why not.
    ///   - stateDirectory: where the store lies; nil where that is not known.
    package static func report(withoutDaemon daemon: HealthCheck, stateDirectory: String?) -> DoctorReport {
        let interfaces = NetworkInterface.all
        let own = [
            daemon, discovery(AvahiProbe().state),
            fault(of: interfaces)
                ?? .ok(.network, "at \(addresses(of: interfaces)); whether the port is open only the daemon can tell"),
            stateDirectory.map { DiskSpace.check(free: DiskSpace.freeBytes(at: $0), directory: $0) },
        ].compactMap(\.self)
        return DoctorReport(checks: HealthCheck.ID.all.map { id in own.first { $0.id == id } ?? unknown(id) })
    }

    /// What only the daemon can tell.
    private static func unknown(_ id: HealthCheck.ID) -> HealthCheck {
        .unknown(id, "only the daemon can tell", remedy: "see to the daemon first")
    }

    private static func discovery(_ state: AvahiProbe.State) -> HealthCheck {
        if let fault = state.fault { return .fail(.discovery, fault.finding, remedy: fault.remedy) }
        guard state == .answers else { return unknown(.discovery) }
        return .ok(.discovery, "avahi answers; what it finds only the daemon can tell")
    }
}
