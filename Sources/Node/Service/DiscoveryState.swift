import Discovery
import LocalAPI
import Synchronization

/// How discovery is, and what it sees, as the people who ask are told.
final class DiscoveryState: Sendable {
    private struct Seen {
        var status: DiscoveryStatus
        /// Since when it looks, on the continuous clock.
        var availableSince: ContinuousClock.Instant?
        /// Services that are there, by instance.
        var services: [String: DiscoveredService] = [:]
    }

    private let seen: Mutex<Seen>

    init(_ status: DiscoveryStatus) {
        seen = Mutex(Seen(status: status))
    }

    var status: DiscoveryStatus { seen.withLock { $0.status } }

    /// For how long it has looked without a break; nil while it does not.
    var availableFor: Duration? { seen.withLock { $0.availableSince.map { ContinuousClock.now - $0 } } }

    /// The services of other devices that are there.
    var services: [DiscoveredService] { seen.withLock { Array($0.services.values) } }

    /// Takes in what has changed on the network.
    func note(_ event: DiscoveryEvent) {
        seen.withLock { seen in
            switch event {
            case .available:
                seen.status = DiscoveryStatus(state: .available)
                seen.availableSince = seen.availableSince ?? ContinuousClock.now
            case .unavailable(let outage):
                seen.status = DiscoveryStatus(state: .unavailable, reason: outage.reason, remedy: outage.remedy)
                seen.availableSince = nil
            case .found(let service): seen.services[service.instanceName] = service
            case .lost(let name): seen.services[name] = nil
            case .advertised: break
            }
        }
    }

    /// It begins anew: nothing is known to be there.
    func forgetServices() { seen.withLock { $0.services = [:] } }
}
