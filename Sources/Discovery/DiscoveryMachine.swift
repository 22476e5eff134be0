/// The decisions of discovery, as a value: which questions are open, what is known, what follows from each answer.
///
/// No clock and no I/O: the shell (`ServiceDiscovery`) carries the directives out. Whether avahi is there is judged by the
/// browse question alone, because a registration may fail for reasons of its own (publishing switched off).
struct DiscoveryMachine: Sendable {
    /// Each resolved instance costs three connections to the system bus, which grants a user 256. Instances beyond this
    /// many wait until one of the others has gone.
    static let mostResolved = 64
    /// So many taken names are tried at once; after that with pauses.
    static let mostRenamesAtOnce = 16
    /// How long the first report of a service waits for an IPv4 address when it has others.
    static let familyDelayMilliseconds = 100

    private let advertisement: Advertisement?
    private var isAvailable: Bool?
    private var connectionBackoff = Backoff()

    private var browser: QueryID?
    private var registration: QueryID?
    private var instanceName: String
    private var renames = 0
    private var ownAddresses: Set<OwnAddress> = []
    private var published: [OwnAddress: QueryID] = [:]
    /// For the service and its addresses alike.
    private var registrationBackoff = Backoff()
    private var willAdvertise = false

    var sightings: [String: Sighting] = [:]
    var hosts: [String: HostWatch] = [:]

    private var open: [QueryID: Query] = [:]
    private var lastQuery: UInt64 = 0

    /// - Parameter advertisement: nil for one that announces nothing.
    init(advertisement: Advertisement?) {
        self.advertisement = advertisement
        instanceName = advertisement?.instanceName ?? ""
    }

    mutating func onStart() -> [Directive] {
        connect()
    }

    mutating func onAlarm(_ alarm: Alarm) -> [Directive] {
        switch alarm {
        case .reconnect:
            return connect()
        case .advertise:
            willAdvertise = false
            return advertise()
        case .resolve(let instanceName):
            return resolve(instanceName)
        case .addresses(let host, let family):
            return watchAddresses(of: host, family: family)
        case .report(let instanceName):
            return report(instanceName)
        }
    }

    mutating func onAnswer(_ answer: Answer, to id: QueryID) -> [Directive] {
        guard let query = open[id] else { return [] }
        switch (query, answer) {
        case (.browse, .opened):
            return becomeAvailable() + advertise()
        case (.browse, .failed(let code)):
            return becomeUnavailable(code: code)
        case (.browse, .appeared(let name, let domain, let interface)):
            connectionBackoff.reset()
            return onAppeared(name, domain: domain, interface: interface)
        case (.browse, .disappeared(let name, let interface)):
            return onDisappeared(name, interface: interface)
        case (.advertise, .advertised(let name)):
            connectionBackoff.reset()
            return onAdvertised(name)
        case (.advertise, .failed(let code)):
            return onAdvertisingFailed(code: code, query: id)
        case (.publish(let address), .failed):
            return onPublishingFailed(address, query: id)
        case (.resolve(let name, _, _), .resolved(let host, let port, let txtRecord)):
            return onResolved(name, host: host, port: port, txtRecord: TXTRecord(bytes: txtRecord))
        case (.resolve(let name, _, _), .failed):
            return onResolvingFailed(name, query: id)
        case (.addresses(let host, _), .addressAdded(let address, let interface, let interfaceName)):
            hosts[host]?.addresses.add(address, interface: interface, interfaceName: interfaceName)
            return reportServices(on: host)
        case (.addresses(let host, _), .addressRemoved(let address, let interface)):
            hosts[host]?.addresses.remove(address, interface: interface)
            return reportServices(on: host)
        case (.addresses(let host, let family), .failed):
            return onAddressesFailed(host: host, family: family, query: id)
        default:
            return []
        }
    }

    // MARK: Questions

    mutating func put(_ query: Query) -> (id: QueryID, directive: Directive) {
        lastQuery += 1
        let id = QueryID(number: lastQuery)
        open[id] = query
        return (id, .open(id, query))
    }

    mutating func close(_ id: QueryID) -> Directive {
        open[id] = nil
        return .close(id)
    }

    func isOurs(_ resolution: Sighting.Resolution) -> Bool {
        resolution.id == advertisement?.id
    }

    // MARK: Avahi comes and goes

    private mutating func connect() -> [Directive] {
        guard browser == nil else { return [] }
        let (id, directive) = put(.browse)
        browser = id
        return [directive]
    }

    private mutating func becomeAvailable() -> [Directive] {
        guard isAvailable != true else { return [] }
        isAvailable = true
        return [.report(.available)]
    }

    private mutating func becomeUnavailable(code: Int32) -> [Directive] {
        var directives = sightings.filter { $0.value.reported != nil }.keys.sorted().map { name in
            Directive.report(.lost(instanceName: name))
        }
        directives += open.keys.sorted().map { .close($0) }
        open = [:]
        sightings = [:]
        hosts = [:]
        browser = nil
        registration = nil
        published = [:]
        if isAvailable != false {
            isAvailable = false
            directives.append(.report(.unavailable(Self.outage(code: code))))
        }
        return directives + [.wake(.reconnect, afterMilliseconds: connectionBackoff.nextDelayMilliseconds())]
    }

    private static func outage(code: Int32) -> DiscoveryOutage {
        guard code != ErrorCode.noLibrary else {
            return DiscoveryOutage(
                reason: "avahi's library is not installed, so laptops are not found by themselves",
                repair: "install avahi (apt-get install avahi-daemon libavahi-compat-libdnssd1)")
        }
        return DiscoveryOutage(
            reason: "avahi-daemon does not answer (DNS-SD error \(code)), so laptops are not found by themselves",
            repair: "start avahi (systemctl start avahi-daemon)")
    }

    // MARK: Our own service

    /// Those that stay are left as they are, and the service, too: whoever has found it does not notice.
    mutating func onOwnAddresses(_ addresses: Set<OwnAddress>) -> [Directive] {
        ownAddresses = addresses
        // After a refusal what is new waits with it: a network that changes all the time is no way round the pause.
        let opening = willAdvertise ? [] : advertise()
        let gone = published.filter { !addresses.contains($0.key) }
        for address in gone.keys { published[address] = nil }
        return opening + gone.values.sorted().map { close($0) }
    }

    /// Publishes what is not published yet: the addresses first, since whoever hears of the service asks for them at once.
    private mutating func advertise() -> [Directive] {
        guard advertisement != nil, browser != nil else { return [] }
        var directives: [Directive] = []
        for address in ownAddresses where published[address] == nil {
            let (id, directive) = put(.publish(address))
            published[address] = id
            directives.append(directive)
        }
        if registration == nil {
            let (id, directive) = put(.advertise(instanceName: instanceName))
            registration = id
            directives.append(directive)
        }
        return directives
    }

    private mutating func onPublishingFailed(_ address: OwnAddress, query: QueryID) -> [Directive] {
        let closing = close(query)
        published[address] = nil
        return [closing] + advertiseLater()
    }

    /// One alarm for all that failed.
    private mutating func advertiseLater() -> [Directive] {
        guard !willAdvertise else { return [] }
        willAdvertise = true
        return [.wake(.advertise, afterMilliseconds: registrationBackoff.nextDelayMilliseconds())]
    }

    private mutating func onAdvertised(_ name: String) -> [Directive] {
        instanceName = name
        renames = 0
        registrationBackoff.reset()
        return [.report(.advertised(instanceName: name))]
    }

    private mutating func onAdvertisingFailed(code: Int32, query: QueryID) -> [Directive] {
        let closing = close(query)
        registration = nil
        if code == ErrorCode.nameConflict {
            instanceName = InstanceName.following(instanceName)
            renames += 1
            if renames < Self.mostRenamesAtOnce { return [closing] + advertise() }
        }
        return [closing] + advertiseLater()
    }
}
