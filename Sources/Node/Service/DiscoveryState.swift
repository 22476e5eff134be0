import LocalAPI
import Synchronization

/// How discovery is, as the people who ask are told.
final class DiscoveryState: Sendable {
    private let state: Mutex<DiscoveryStatus>

    init(_ status: DiscoveryStatus) {
        state = Mutex(status)
    }

    var status: DiscoveryStatus {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
