import LocalAPI
import Replication
import Transport

#if canImport(Glibc)
    import Glibc
#endif

/// Where others reach this laptop: what is worth trying first stands first.
enum OwnAddresses {
    /// An address of an interface that is up.
    struct Found: Hashable {
        var address: String
        var interface: String
        var isPointToPoint = false
    }

    /// Made by what runs containers and virtual machines: nobody else is behind them.
    private static let containers = [
        "docker", "br-", "veth", "virbr", "vnet", "lxc", "lxd", "incus", "cni", "podman", "flannel", "cali",
    ]
    private static let tunnels = ["wg", "tun", "tap", "tailscale", "zt", "ppp", "nordlynx", "proton"]

    /// - Parameter host: where the daemon listens, as in its settings.
    static func all(listeningAt host: String, port: Int) -> [OwnAddress] {
        let heard = interfaces.filter { found in
            switch host {
            case TransportConfiguration.everyHost, "::": true
            case "0.0.0.0": !found.address.contains(":")
            default: found.address == host
            }
        }
        return ordered(heard, port: port)
    }

    /// Networks before tunnels before containers; of one kind IPv4 first, which people read to each other.
    static func ordered(_ found: [Found], port: Int) -> [OwnAddress] {
        found.sorted { order(of: $0) < order(of: $1) }.map { found in
            OwnAddress(
                address: "\(PeerAddress(host: found.address, port: port))", interface: found.interface,
                kind: kind(of: found))
        }
    }

    private static func order(of found: Found) -> (Int, Int, String, String) {
        let kind = OwnAddress.Kind.allCases.firstIndex(of: kind(of: found)) ?? 0
        return (kind, found.address.contains(":") ? 1 : 0, found.interface, found.address)
    }

    private static func kind(of found: Found) -> OwnAddress.Kind {
        if containers.contains(where: found.interface.hasPrefix) { return .container }
        return found.isPointToPoint || tunnels.contains(where: found.interface.hasPrefix) ? .tunnel : .network
    }

    /// Without the loopback, and without link-local ones, which mean nothing without the other laptop's interface.
    private static var interfaces: [Found] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: Set<Found> = []
        var next = list
        while let interface = next?.pointee {
            next = interface.ifa_next
            let flags = interface.ifa_flags
            guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_LOOPBACK) == 0, let address = interface.ifa_addr,
                let text = Surroundings.numeric(address), !text.hasPrefix("fe80:"), !text.hasPrefix("169.254.")
            else { continue }
            found.insert(
                Found(
                    address: text, interface: String(cString: interface.ifa_name),
                    isPointToPoint: flags & UInt32(IFF_POINTOPOINT) != 0))
        }
        return Array(found)
    }
}
