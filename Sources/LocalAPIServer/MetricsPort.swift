import Synchronization

/// The port for Prometheus, and how it stands with it: for the doctor.
package final class MetricsPort: Sendable {
    private struct State {
        var open: Set<MetricsAddress.Place> = []
        /// Where it is not listened on, and why.
        var faults: [String: String] = [:]
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

    /// Addresses that cannot be listened on, each with the reason in brackets, in an order that stays.
    package var faults: [String] {
        state.withLock { $0.faults.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" } }
    }

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
    func failed(_ place: MetricsAddress.Place, because reason: String) -> Bool {
        state.withLock { $0.faults.updateValue(reason, forKey: name(place)) != reason }
    }

    /// As people are told of it: its first address.
    func name(_ place: MetricsAddress.Place) -> String {
        MetricsAddress.text(place.hosts.first ?? address.host, address.port)
    }
}
