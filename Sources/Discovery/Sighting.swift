/// What is known about one instance name that browsing has shown.
struct Sighting: Sendable {
    /// What resolving told, when it made sense and is not our own service.
    struct Resolution: Hashable, Sendable {
        let host: String
        let port: UInt16
        let id: String
        let fleet: String
        let protocolVersion: Int

        /// Nil when the TXT record lacks `v` or `id`: not one of ours, whatever its type says.
        init?(host: String, port: UInt16, txtRecord: TXTRecord) {
            guard let version = txtRecord["v"].flatMap({ Int($0) }), let id = txtRecord["id"], !id.isEmpty else {
                return nil
            }
            self.host = host
            self.port = port
            self.id = id
            fleet = txtRecord["fleet"] ?? ""
            protocolVersion = version
        }

        func service(named instanceName: String, at addresses: [String]) -> DiscoveredService {
            DiscoveredService(
                instanceName: instanceName, id: id, fleet: fleet, protocolVersion: protocolVersion, hostName: host,
                addresses: addresses, port: port)
        }
    }

    let domain: String
    /// How often it is sighted per interface: once over IPv4, once over IPv6.
    private var timesPerInterface: [UInt32: Int] = [:]
    /// The open question to resolve it, and on which interface.
    var resolver: (query: QueryID, interface: UInt32)?
    var backoff = Backoff()
    var resolution: Resolution?
    /// What the last `found` said, nil before it and after a `lost`.
    var reported: DiscoveredService?

    init(domain: String) {
        self.domain = domain
    }

    mutating func appear(on interface: UInt32) {
        timesPerInterface[interface, default: 0] += 1
    }

    mutating func disappear(on interface: UInt32) {
        guard let times = timesPerInterface[interface] else { return }
        timesPerInterface[interface] = times > 1 ? times - 1 : nil
    }

    func isSighted(on interface: UInt32) -> Bool {
        timesPerInterface[interface] != nil
    }

    /// The loopback's index, on every Linux (`LOOPBACK_IFINDEX` in the kernel's net.h).
    static let loopback: UInt32 = 1

    /// The interface to resolve on: the one with the lowest index on which it is sighted; nil when it has gone.
    ///
    /// The loopback where there is no other: of a name that it has lost to another laptop avahi goes on to say there that it is this
    /// machine's.
    var preferredInterface: UInt32? {
        timesPerInterface.keys.filter { $0 != Self.loopback }.min() ?? timesPerInterface.keys.first
    }

    /// Whether it is resolved where it need not be any more.
    var isResolvedInVain: Bool {
        guard let resolver else { return false }
        return !isSighted(on: resolver.interface)
            || resolver.interface == Self.loopback && preferredInterface != Self.loopback
    }
}
