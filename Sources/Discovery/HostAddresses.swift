/// The addresses of one host as avahi sees them, each with the interface on which it was heard.
///
/// One address may be heard on several interfaces, and twice on one (over IPv4 and over IPv6): it goes when all of them
/// have taken it back.
struct HostAddresses: Sendable {
    private struct Key: Hashable {
        let address: String
        let interface: UInt32
    }

    private struct Heard {
        var times: Int
        let interfaceName: String
    }

    private var heard: [Key: Heard] = [:]

    /// - Parameters:
    ///   - address: numeric, without scope.
    ///   - interface: the index of the interface.
    ///   - interfaceName: its name, for the scope of a link-local address.
    mutating func add(_ address: String, interface: UInt32, interfaceName: String) {
        let key = Key(address: address, interface: interface)
        heard[key, default: Heard(times: 0, interfaceName: interfaceName)].times += 1
    }

    mutating func remove(_ address: String, interface: UInt32) {
        let key = Key(address: address, interface: interface)
        guard let times = heard[key]?.times else { return }
        if times > 1 {
            heard[key]?.times = times - 1
        } else {
            heard[key] = nil
        }
    }

    /// Forgets what one question has told; its successor tells it again.
    mutating func removeAll(of family: AddressFamily) {
        heard = heard.filter { $0.key.address.contains(":") != (family == .ipv6) }
    }

    /// Every address once, in the order in which a caller had best try them.
    var ranked: [String] {
        var best: [String: Int] = [:]
        for (key, heard) in heard {
            let isLinkLocal = key.address.hasPrefix("fe80:")
            let text = isLinkLocal ? "\(key.address)%\(heard.interfaceName)" : key.address
            let rank = Self.rank(key.address, isLinkLocal: isLinkLocal, interfaceName: heard.interfaceName)
            best[text] = min(best[text] ?? rank, rank)
        }
        return best.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }

    /// Bridges of containers and virtual machines: every machine that runs Docker has `172.17.0.1`, so such an address
    /// more likely leads back to ourselves than to the peer.
    private static let privateBridges = ["docker", "br-", "veth", "virbr", "lxc", "lxd", "cni", "podman", "vmnet"]

    private static func rank(_ address: String, isLinkLocal: Bool, interfaceName: String) -> Int {
        if address.hasPrefix("127.") || address == "::1" { return 4 }
        if privateBridges.contains(where: interfaceName.hasPrefix) { return 3 }
        if isLinkLocal { return 2 }
        return address.contains(":") ? 1 : 0
    }
}
