import CRDT
import Replication
import Timekeeping

extension Mesh {
    /// Opens a link and establishes it: the peer greets and tells the time.
    mutating func meet(_ peer: DeviceID, on link: LinkID, now: UInt64 = 0) {
        _ = onLinkOpened(link, with: JobAccess(peer), isDialled: true, now: now)
        _ = onMessage(.hello(.of(peer)), on: link, now: now)
        _ = onMessage(.pong(now, received: 0, answered: 0, .unsynchronised), on: link, now: now)
        _ = onTimeLearned(link, now: now)
        // The peer holds what this device holds.
        for case .send(.fingerprint(let fingerprint), link) in onMessage(.ready, on: link, now: now).map(\.onLink) {
            _ = onMessage(.fingerprint(fingerprint), on: link, now: now)
        }
    }
}

extension Hello {
    static func of(_ device: DeviceID) -> Hello {
        Hello(
            minimumVersion: ProtocolLimits.minimumVersion, maximumVersion: ProtocolLimits.version, device: device,
            instance: 2, name: "bert")
    }
}
