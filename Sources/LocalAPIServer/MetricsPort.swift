import Synchronization

/// The port for Prometheus, and how it stands with it: for the doctor.
package final class MetricsPort: Sendable {
    /// An address that cannot be listened on.
    package struct Fault: Hashable, Sendable {
        /// The address, and why in brackets.
        package let finding: String
        /// What to do.
        package let remedy: String

        /// Takes both as they are.
        package init(finding: String, remedy: String) {
            (self.finding, self.remedy) = (finding, remedy)
        }
    }

    private struct State {
        var open: Set<MetricsAddress.Place> = []
        /// Of each address that cannot be listened on.
        var faults: [String: Fault] = [:]
    }

    /// Where it is.
    package let address: MetricsAddress
    private let state = Mutex(State())

    /// Nobody listens yet.
    package init(_ address: MetricsAddress) {
        self.address = address
    }

    /// It is listened on, at one of its addresses at least.
    package var isOpen: Bool { state.withLock { !$0.open.isEmpty } }

    /// Addresses that cannot be listened on, in an order that stays.
    package var faults: [Fault] { state.withLock { $0.faults.values.sorted { $0.finding < $1.finding } } }

    func opened(_ place: MetricsAddress.Place) {
        state.withLock { state in
            state.open.insert(place)
            state.faults[name(place)] = nil
        }
    }

    func closed(_ place: MetricsAddress.Place) {
        state.withLock { _ = $0.open.remove(place) }
    }

    /// - Returns: whether this is news.
    func failed(_ place: MetricsAddress.Place, because reason: String, remedy: String) -> Bool {
        let name = name(place)
        let fault = Fault(finding: "\(name) (\(reason))", remedy: remedy)
        return state.withLock { $0.faults.updateValue(fault, forKey: name) != fault }
    }

    /// As people are told of it: its first address.
    func name(_ place: MetricsAddress.Place) -> String {
        MetricsAddress.text(place.hosts.first ?? address.host, address.port)
    }
}
