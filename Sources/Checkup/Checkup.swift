package import LocalAPI
package import Systemd

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
    ///   - exit: how it has ended, where that is known.
    ///   - stateDirectory: where the store lies; nil where that is not known.
    package static func report(
        withoutDaemon daemon: HealthCheck, ended exit: SystemExit? = nil, stateDirectory: String?
    ) -> DoctorReport {
        let interfaces = NetworkInterface.all
        let own = [
            exit.flatMap { reason(daemon, $0) } ?? daemon, exit == .badData ? badStore(in: stateDirectory) : nil,
            discovery(AvahiProbe().state),
            fault(of: interfaces)
                ?? .ok(.network, "at \(addresses(of: interfaces)); whether the port is open only the daemon can tell"),
            stateDirectory.map { DiskSpace.check(free: DiskSpace.freeBytes(at: $0), directory: $0) },
        ].compactMap(\.self)
        return DoctorReport(checks: HealthCheck.ID.all.map { id in own.first { $0.id == id } ?? unknown(id) })
    }

    /// A daemon that systemd does not start again has said by its exit code what is in its way.
    private static func reason(_ daemon: HealthCheck, _ exit: SystemExit) -> HealthCheck? {
        switch exit {
        case .usage:
            .fail(
                .daemon, "\(daemon.finding): it ended because of its settings",
                remedy: "see what is wrong with them ('musterd --check-config --environment-file "
                    + "/etc/default/muster'), then 'systemctl restart musterd'")
        case .badData:
            .fail(.daemon, "\(daemon.finding): it ended because of its store", remedy: "see to the store first")
        case .notPermitted:
            .fail(
                .daemon, "\(daemon.finding): it ended since it may not do what it has to",
                remedy:
                    "see which file or group it names ('journalctl -u musterd -n 20'), then 'systemctl restart musterd'"
            )
        default: nil
        }
    }

    private static func badStore(in directory: String?) -> HealthCheck {
        .fail(
            .store, "it cannot be used: it is gone or damaged, or of another version or laptop",
            remedy: "'journalctl -u musterd -n 20' says which; with a damaged one move \(directory ?? "its directory") "
                + "aside, start the daemon, and let this laptop join again: the others have its work")
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
