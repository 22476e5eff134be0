package import Replication

/// Whom to connect to, and when.
extension Replicator {
    /// Changes what is known of addresses, then dials what is due.
    package func updatePlan(_ change: @Sendable (inout DialPlan, UInt64) -> Void) {
        change(&plan, now)
        dialDue()
    }

    /// A person takes back an address that was named. A connection that was made to it ends, unless discovery knows it, too.
    ///
    /// - Returns: false where nobody has named it.
    package func forgetNamed(_ address: PeerAddress) -> Bool {
        guard plan.targets[address]?.origin == .configured else { return false }
        plan.onForgotten(address)
        guard plan.targets[address] == nil else { return true }
        for (link, remote) in remotes where remote.dialled == address { close(link, "Its address was taken back.") }
        return true
    }

    /// Discovery has told of a service, perhaps for the second time because it moved.
    package func discovered(_ instance: String, id: String, addresses: [PeerAddress]) async {
        plan.onFound(instance, id: id, addresses: addresses, now: now)
        perform(mesh.onLivenessHint(about: id, now: now))
        dialDue()
    }

    /// A service is no longer announced, which says little about the connection with it: it is asked.
    package func vanished(_ instance: String) async {
        for id in plan.onLost(instance).sorted() { perform(mesh.onLivenessHint(about: id, now: now)) }
    }

    /// Every address that is known, but those at which this device itself answers.
    package func knownAddresses() -> [PeerAddress] {
        plan.targets.filter { !$0.value.isSelf }.keys.sorted()
    }

    func dialDue() {
        let connected = Set(mesh.connectedDevices)
        for address in plan.due(now: now, connected: connected) { links?.dial(address) }
        dialTimer.set(plan.nextDeadline(connected: connected), on: machine) { [weak self] in
            await self?.dialTimerFired()
        }
    }

    func dialTimerFired() {
        if dialTimer.begins() { dialDue() }
    }
}
