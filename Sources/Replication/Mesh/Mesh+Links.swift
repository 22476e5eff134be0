package import CRDT

/// Connections come, say who they are, and go.
extension Mesh {
    /// A connection stands: says hello. Whatever else is told of a link counts only after this.
    ///
    /// - Parameters:
    ///   - access: whose key the peer has, and what it may be told.
    ///   - isDialled: whether this device dialled; of two connections that cross it decides which survives.
    package mutating func onLinkOpened(
        _ link: LinkID, with access: JobAccess, isDialled: Bool, now: UInt64
    ) -> [LinkDirective] {
        links[link] = MeshLink(id: link, access: access, isDialled: isDialled, now: now)
        return [.send(.hello(hello), on: link)]
    }

    /// A connection has ended: others that hold it are asked for what it has not brought. Does nothing for an unknown
    /// link.
    package mutating func onLinkClosed(_ link: LinkID, now: UInt64) -> [SearchDirective] {
        guard let closed = links.removeValue(forKey: link) else { return [] }
        // What it would have brought others may have announced long ago, and do not say again.
        for job in closed.jobs.keys.sorted() { want(job) }
        let unasked = fetches.filter { $0.value.link == link }.keys.sorted()
        for name in unasked { fetches[name] = nil }
        for name in unasked + grafts.removeAll(of: link) { want(name) }
        let unfinished = searches.filter { $0.value.link == link }.keys.sorted()
        for name in unfinished { endSearch(name) }
        var directives = unfinished.flatMap { searchElsewhere($0, than: link, now: now) }
        directives += fetchMissing(now: now)
        return directives
    }

    /// A peer reads too slowly, or has caught up: meanwhile it gets no piece of a journal and no `have`, then all of
    /// them.
    package mutating func onCongestion(_ link: LinkID, isCongested: Bool, now: UInt64) -> [StreamDirective] {
        guard links[link] != nil else { return [] }
        links[link]?.isCongested = isCongested
        guard !isCongested else { return [] }
        var directives = pumpStreams(of: link)
        directives += tellAll(on: link)
        return directives
    }

    mutating func onHello(_ hello: Hello, on id: LinkID, now: UInt64) -> [MessageDirective] {
        guard let link = links[id], link.phase == .greeting else { return [refuse(id, "A second hello.")] }
        guard hello.device == link.device else {
            return [refuse(id, "The peer calls itself another device than the one whose key it has.")]
        }
        if hello.device == device { return onOwnName(hello, on: id, now: now) }
        guard hello.isUnderstood else {
            return [
                refuse(
                    id,
                    "The peer speaks versions \(hello.minimumVersion) to \(hello.maximumVersion), this device "
                        + "\(ProtocolLimits.minimumVersion) to \(ProtocolLimits.version); update the older one.")
            ]
        }
        var directives: [MessageDirective] = []
        for other in greetedLinks where links[other]?.greeted?.device == hello.device {
            guard survives(id, over: other, of: hello.device) else {
                // The survivor may be dead without knowing it.
                directives = [
                    .recognised(id, hello.device), refuse(id, "Another connection with this device stands."),
                ]
                directives += suspect(other, now: now)
                return directives
            }
            directives.append(.close(other, reason: "Replaced by a newer connection."))
            directives += onLinkClosed(other, now: now)
        }
        links[id]?.phase = .learning(MeshLink.Learning(hello: hello, since: now))
        if hello.revocations != revocations { directives.append(.tellRevocations(to: id)) }
        directives.append(ping(id, now: now))
        return directives
    }

    /// Both sides may show their work.
    mutating func establish(_ id: LinkID) -> [GreetingDirective] {
        guard let hello = links[id]?.learning?.hello else { return [] }
        links[id]?.phase = .established(hello)
        refreshFingerprints()
        return [.established(id, hello), .send(.fingerprint(fingerprints.all(instead: barredJobs(id))), on: id)]
    }

    /// Of two connections the one that the lower device dialled survives; of two in one direction the newer.
    /// Both sides decide alike, so that one is always left.
    private func survives(_ new: LinkID, over old: LinkID, of peer: DeviceID) -> Bool {
        guard let new = links[new], let old = links[old] else { return true }
        return new.isDialled == old.isDialled || new.isDialled == (device < peer)
    }

    /// Why a link to this very process is closed.
    package static let ownDeviceReason = "This is this device itself."

    private mutating func onOwnName(_ hello: Hello, on link: LinkID, now: UInt64) -> [MessageDirective] {
        if hello.instance == instance { return [refuse(link, Self.ownDeviceReason)] }
        let reason = "Another laptop has this laptop's key: one of them is a copy."
        // Both hear of it. One of them keeps the key, and its place in the fleet.
        guard !isRenewing, hello.instance > instance else { return [refuse(link, reason)] }
        guard deviceRenewalLimit.allows(now: now) else {
            return [.proofIgnored(link, reason: reason), refuse(link, reason)]
        }
        isRenewing = true
        return [refuse(link, reason), .renewDevice(reason: reason)]
    }

    func refuse<Directive: LinkDirecting>(_ link: LinkID, _ reason: String) -> Directive {
        .link(.close(link, reason: reason))
    }

    mutating func ping<Directive: LinkDirecting>(_ link: LinkID, now: UInt64) -> Directive {
        links[link]?.pingSent = (now, now)
        links[link]?.lastPing = now
        return .link(.send(.ping(now), on: link))
    }
}
