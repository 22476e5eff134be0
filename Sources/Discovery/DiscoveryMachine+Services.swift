/// The part about other laptops: sighted, resolved, found, lost.
extension DiscoveryMachine {
    /// The questions after the addresses of one host, shared by all services on it.
    struct HostWatch: Sendable {
        var queries: [AddressFamily: QueryID] = [:]
        var backoff = Backoff()
        var addresses = HostAddresses()
    }

    // MARK: Sighted

    mutating func onAppeared(_ name: String, domain: String, interface: UInt32) -> [Directive] {
        sightings[name, default: Sighting(domain: domain)].appear(on: interface)
        return leaveResolver(of: name) + resolve(name)
    }

    mutating func onDisappeared(_ name: String, interface: UInt32) -> [Directive] {
        sightings[name]?.disappear(on: interface)
        var directives = leaveResolver(of: name)
        guard let sighting = sightings[name] else { return [] }
        guard sighting.preferredInterface == nil else { return directives + resolve(name) }
        if sighting.reported != nil { directives.append(.report(.lost(instanceName: name))) }
        sightings[name] = nil
        return directives + releaseHosts() + resolveWaiting()
    }

    private mutating func leaveResolver(of name: String) -> [Directive] {
        guard let sighting = sightings[name], sighting.isResolvedInVain, let resolver = sighting.resolver else {
            return []
        }
        sightings[name]?.resolver = nil
        return [close(resolver.query)]
    }

    // MARK: Resolved

    mutating func resolve(_ name: String) -> [Directive] {
        guard let sighting = sightings[name], sighting.resolver == nil, let interface = sighting.preferredInterface,
            sightings.values.count(where: { $0.resolver != nil }) < Self.mostResolved
        else { return [] }
        let (id, directive) = put(.resolve(instanceName: name, domain: sighting.domain, interface: interface))
        sightings[name]?.resolver = (id, interface)
        return [directive]
    }

    private mutating func resolveWaiting() -> [Directive] {
        guard let name = sightings.filter({ $0.value.resolver == nil }).keys.min() else { return [] }
        return resolve(name)
    }

    mutating func onResolved(_ name: String, host: String, port: UInt16, txtRecord: TXTRecord) -> [Directive] {
        guard var sighting = sightings[name] else { return [] }
        var directives: [Directive] = []
        sighting.backoff.reset()
        sighting.resolution = Sighting.Resolution(host: host, port: port, txtRecord: txtRecord)
            .flatMap { isOurs($0) ? nil : $0 }
        if let reported = sighting.reported, reported.id != sighting.resolution?.id {
            // The name has moved to another device (or to us) without a goodbye between.
            directives.append(.report(.lost(instanceName: name)))
            sighting.reported = nil
        }
        sightings[name] = sighting
        if sighting.resolution != nil {
            for family in AddressFamily.allCases { directives += watchAddresses(of: host, family: family) }
        }
        return directives + releaseHosts() + reportOrWait(name)
    }

    /// Avahi gives up after five seconds; the instance is still sighted, so ask again.
    mutating func onResolvingFailed(_ name: String, query: QueryID) -> [Directive] {
        let closing = close(query)
        guard sightings[name] != nil else { return [closing] }
        sightings[name]?.resolver = nil
        let delay = sightings[name]?.backoff.nextDelayMilliseconds() ?? Backoff.longestMilliseconds
        return [closing, .wake(.resolve(instanceName: name), afterMilliseconds: delay)]
    }

    // MARK: Addresses

    mutating func watchAddresses(of host: String, family: AddressFamily) -> [Directive] {
        guard isWanted(host), hosts[host]?.queries[family] == nil else { return [] }
        let (id, directive) = put(.addresses(host: host, family: family))
        hosts[host, default: HostWatch()].queries[family] = id
        return [directive]
    }

    mutating func onAddressesFailed(host: String, family: AddressFamily, query: QueryID) -> [Directive] {
        let closing = close(query)
        hosts[host]?.queries[family] = nil
        hosts[host]?.addresses.removeAll(of: family)
        let delay = hosts[host]?.backoff.nextDelayMilliseconds() ?? Backoff.longestMilliseconds
        return [closing, .wake(.addresses(host: host, family: family), afterMilliseconds: delay)]
    }

    private func isWanted(_ host: String) -> Bool {
        sightings.values.contains { $0.resolution?.host == host }
    }

    /// Closes the questions about hosts that no service names any more.
    private mutating func releaseHosts() -> [Directive] {
        var directives: [Directive] = []
        for host in hosts.keys.sorted() where !isWanted(host) {
            let queries = hosts.removeValue(forKey: host)?.queries.values.sorted() ?? []
            for query in queries { directives.append(close(query)) }
        }
        return directives
    }

    // MARK: Found

    mutating func reportServices(on host: String) -> [Directive] {
        sightings.filter { $0.value.resolution?.host == host }.keys.sorted().flatMap { reportOrWait($0) }
    }

    /// The addresses of both families come in either order, a moment apart. Dialling starts with the first report, so that
    /// waits a moment for an IPv4 address (as RFC 8305 section 3 does, for the other family).
    private mutating func reportOrWait(_ name: String) -> [Directive] {
        guard let sighting = sightings[name], let host = sighting.resolution?.host,
            let addresses = hosts[host]?.addresses.ranked, !addresses.isEmpty
        else { return [] }
        guard sighting.reported == nil, !addresses.contains(where: { !$0.contains(":") }) else { return report(name) }
        return [.wake(.report(instanceName: name), afterMilliseconds: Self.familyDelayMilliseconds)]
    }

    /// Says what is new. A service whose last address has gone is not lost: the new one is usually on its way, and a
    /// service that has gone disappears from browsing.
    mutating func report(_ name: String) -> [Directive] {
        guard let resolution = sightings[name]?.resolution, let addresses = hosts[resolution.host]?.addresses.ranked,
            !addresses.isEmpty
        else { return [] }
        let service = resolution.service(named: name, at: addresses)
        guard sightings[name]?.reported != service else { return [] }
        sightings[name]?.reported = service
        return [.report(.found(service))]
    }
}
