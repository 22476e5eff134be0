package import CRDT

/// Which addresses to dial, and when. A value like the mesh; times are milliseconds of a clock that never goes back.
///
/// Addresses come from the configuration, from people and from discovery. One that does not answer is tried again after
/// half a second, doubling to fifteen, with jitter; one at which this device itself answered is left alone.
package struct DialPlan: Sendable {
    /// Who has named an address, which decides how long it is remembered.
    package enum Origin: Hashable, Sendable {
        /// The configuration or a person: it is kept as long as the daemon runs, or until it is taken back.
        case configured
        /// Discovery: it is forgotten with the last service that is announced there.
        case discovery
    }

    /// What is known of one address.
    package struct Target: Hashable, Sendable {
        /// `configured` as soon as a person or the configuration has named it, whatever discovery says.
        package internal(set) var origin: Origin
        /// Discovered services that are there.
        package internal(set) var instances: Set<String> = []
        /// The short id that discovery claims for it.
        package var claimedID: String?
        /// Who answered there last.
        package var device: DeviceID?
        /// An attempt is under way, from `due` until it is established or has failed; meanwhile it is not due again.
        package var isDialling = false
        /// How often in a row nobody answered, or the connection ended. Begins anew when the address is named or
        /// announced again, and after a connection that stood for 15 s.
        package var failures = 0
        /// Why nobody was reached there the last time, as people read it; nil while somebody is, and where that is not known.
        package internal(set) var lastReason: String?
        /// This device itself answered there: it is left alone until another id is claimed for it, or somebody names it
        /// anew.
        package internal(set) var isSelf = false
        /// Why nobody was reached there last; nil before that, and once somebody was.
        package internal(set) var lastFailure: DialFailure?
        var establishedAt: UInt64?
        var nextAttempt: UInt64
    }

    static let firstDelay: UInt64 = 500
    static let longestDelay: UInt64 = 15_000

    /// Everything that is known, by address; those of connected devices stay in it.
    package private(set) var targets: [PeerAddress: Target] = [:]

    /// Begins without any address.
    package init() {}

    /// Somebody names an address: it is due at once, unless it is being dialled. What failed there before is forgotten.
    package mutating func onConfigured(_ address: PeerAddress, now: UInt64) {
        var target = targets[address] ?? Target(origin: .configured, nextAttempt: now)
        target.origin = .configured
        target.isSelf = false
        target.failures = 0
        target.nextAttempt = now
        targets[address] = target
    }

    /// Somebody takes an address back that was named: it is forgotten, unless discovery knows it, too.
    package mutating func onForgotten(_ address: PeerAddress) {
        targets[address]?.origin = .discovery
        if targets[address]?.instances.isEmpty ?? false { targets[address] = nil }
    }

    /// A service is there, or has changed: its addresses are worth a fresh try.
    package mutating func onFound(_ instance: String, id: String, addresses: [PeerAddress], now: UInt64) {
        for address in targets.keys where !addresses.contains(address) { forget(instance, at: address) }
        for address in addresses {
            var target = targets[address] ?? Target(origin: .discovery, nextAttempt: now)
            target.instances.insert(instance)
            if target.claimedID != id { target.isSelf = false }
            target.claimedID = id
            target.failures = 0
            target.nextAttempt = now
            targets[address] = target
        }
    }

    /// - Returns: the short ids that were claimed for it.
    package mutating func onLost(_ instance: String) -> Set<String> {
        let ids = targets.values.filter { $0.instances.contains(instance) }.compactMap(\.claimedID)
        for address in targets.keys { forget(instance, at: address) }
        return Set(ids)
    }

    private mutating func forget(_ instance: String, at address: PeerAddress) {
        guard targets[address]?.instances.remove(instance) != nil else { return }
        if targets[address]?.origin == .discovery, targets[address]?.instances.isEmpty ?? false {
            targets[address] = nil
        }
    }

    /// Somebody has said there who it is. Until then the address counts as being dialled, even when the connection is open:
    /// it is not dialled twice.
    package mutating func onEstablished(_ address: PeerAddress, device: DeviceID, now: UInt64) {
        targets[address]?.isDialling = false
        targets[address]?.device = device
        targets[address]?.establishedAt = now
        targets[address]?.lastReason = nil
        targets[address]?.lastFailure = nil
    }

    /// Somebody has said there who it is, with whom another connection stands: there is nothing to dial there until that
    /// one has ended.
    package mutating func onRecognised(_ address: PeerAddress, device: DeviceID) {
        targets[address]?.device = device
    }

    /// This device itself answered there.
    package mutating func onSelf(_ address: PeerAddress) {
        targets[address]?.isSelf = true
    }

    /// This device has become somebody whom others may let in, or somebody else: every address is worth a fresh try.
    package mutating func onEnrolled(now: UInt64) {
        for address in targets.keys {
            targets[address]?.isSelf = false
            targets[address]?.failures = 0
            targets[address]?.nextAttempt = now
        }
    }

    /// The laptop was asleep: who did not answer before it may be there now.
    package mutating func onResumed(now: UInt64) {
        for address in targets.keys {
            targets[address]?.failures = 0
            targets[address]?.nextAttempt = now
        }
    }

    /// Nobody answered, or the connection has ended.
    ///
    /// - Parameters:
    ///   - failure: why nobody was reached; nil where somebody was.
    ///   - reason: the same as people read it, or why the connection has ended.
    package mutating func onFailed(
        _ address: PeerAddress, _ failure: DialFailure? = nil, because reason: String? = nil, now: UInt64,
        using generator: inout some RandomNumberGenerator
    ) {
        guard var target = targets[address] else { return }
        target.lastReason = reason
        target.isDialling = false
        // A peer that is refused soon after its hello is dialled less and less often; one that stood for a while at once.
        if let since = target.establishedAt, now >= since + Self.longestDelay { target.failures = 0 }
        target.establishedAt = nil
        target.lastFailure = failure
        let delay = min(Self.firstDelay << UInt64(min(target.failures, 10)), Self.longestDelay)
        target.failures += 1
        target.nextAttempt = now + delay / 2 + UInt64.random(in: 0...delay / 2, using: &generator)
        targets[address] = target
    }

    /// The addresses to dial now, one per device; they count as being dialled until something is told of them.
    package mutating func due(now: UInt64, connected: Set<DeviceID>) -> [PeerAddress] {
        var claimed = claimedIDs(connected: connected)
        var due: [PeerAddress] = []
        let order = targets.keys.sorted { (targets[$0]?.failures ?? 0, $0) < (targets[$1]?.failures ?? 0, $1) }
        for address in order {
            guard let target = targets[address], isWanted(target, connected: connected), target.nextAttempt <= now,
                !(target.claimedID.map(claimed.contains) ?? false)
            else { continue }
            if let id = target.claimedID { claimed.insert(id) }
            targets[address]?.isDialling = true
            due.append(address)
        }
        return due
    }

    /// When `due` is worth asking next.
    package func nextDeadline(connected: Set<DeviceID>) -> UInt64? {
        let claimed = claimedIDs(connected: connected)
        return targets.values.filter { target in
            isWanted(target, connected: connected) && !(target.claimedID.map(claimed.contains) ?? false)
        }.map(\.nextAttempt).min()
    }

    /// Devices that are connected, or being dialled at another of their addresses.
    private func claimedIDs(connected: Set<DeviceID>) -> Set<String> {
        Set(connected.map(\.short)).union(targets.values.filter(\.isDialling).compactMap(\.claimedID))
    }

    private func isWanted(_ target: Target, connected: Set<DeviceID>) -> Bool {
        !target.isDialling && !target.isSelf && !(target.device.map(connected.contains) ?? false)
    }
}
