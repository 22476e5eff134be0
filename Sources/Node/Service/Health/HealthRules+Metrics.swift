import LocalAPI
import LocalAPIServer

extension HealthRules {
    /// - Parameter port: for Prometheus; nil where nobody wants one.
    static func metrics(_ port: MetricsPort?) -> HealthCheck {
        guard let port else { return .ok(.metrics, "nobody is given figures over a port") }
        return metrics(port.address, faults: port.faults, isOpen: port.isOpen)
    }

    /// - Parameters:
    ///   - faults: where it is not listened on.
    ///   - isOpen: it is listened on somewhere.
    static func metrics(_ address: MetricsAddress, faults: [MetricsPort.Fault], isOpen: Bool) -> HealthCheck {
        if let first = faults.first {
            return .warn(
                .metrics, "no figures at \(faults.map(\.finding).joined(separator: ", nor at "))", remedy: first.remedy)
        }
        guard isOpen else {
            return .unknown(.metrics, "\(address) is about to be listened on", remedy: "ask again in a moment")
        }
        return .ok(
            .metrics,
            Loopback.holds(address.host)
                ? "figures for Prometheus at \(address), for this machine alone"
                : "figures for Prometheus at \(address), for whoever gets there")
    }
}
