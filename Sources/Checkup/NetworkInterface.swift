#if canImport(Glibc)
    import Glibc
#endif

/// An interface of this machine that is up and has an address: loopback and link-local addresses are left out.
package struct NetworkInterface: Hashable, Sendable {
    /// What stands behind it.
    package enum Kind: Hashable, Sendable {
        /// A network with other machines on it, as far as can be told.
        case network
        /// A way to somewhere else: what a crew has in the house is not on it.
        case tunnel
        /// For containers and virtual machines on this laptop.
        case container
    }

    /// As ip(8) has it.
    package let name: String
    /// What stands behind it.
    package let kind: Kind
    /// Numeric, sorted.
    package let addresses: [String]

    /// Takes the parts as they are.
    package init(name: String, kind: Kind, addresses: [String]) {
        self.name = name
        self.kind = kind
        self.addresses = addresses
    }

    /// Decides by the driver; names lie, and decide only where many things share a driver, or none is told.
    ///
    /// - Parameter driver: of the interface, as the kernel calls it; nil where it does not tell.
    package static func kind(name: String, driver: String?) -> Kind {
        func begins(_ beginnings: [String]) -> Bool { beginnings.contains { name.hasPrefix($0) } }
        switch driver {
        case "tun", "wireguard", "ipip", "sit", "ip_gre", "vxlan", "ppp", "openvpn": return .tunnel
        // A container's own end of a pair is its network; the other end is named so by whoever made it.
        case "veth", "bridge", nil: break
        default: return .network
        }
        if begins(["docker", "br-", "virbr", "veth", "lxc", "lxdbr", "cni", "podman", "vnet"]) { return .container }
        let isUnknown = driver == nil
        return isUnknown && begins(["tun", "tap", "wg", "tailscale", "zt", "ppp", "nordlynx"]) ? .tunnel : .network
    }

    /// Those of this machine now, by name.
    package static var all: [NetworkInterface] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [String: Set<String>] = [:]
        var next = list
        while let interface = next?.pointee {
            next = interface.ifa_next
            guard interface.ifa_flags & UInt32(IFF_UP) != 0, interface.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
                let address = interface.ifa_addr, let text = numeric(address), !text.hasPrefix("fe80:"),
                let name = interface.ifa_name
            else { continue }
            found[String(cString: name), default: []].insert(text)
        }
        return found.sorted { $0.key < $1.key }.map { name, addresses in
            NetworkInterface(
                name: name, kind: kind(name: name, driver: driver(of: name)), addresses: addresses.sorted())
        }
    }

    private static func numeric(_ address: UnsafeMutablePointer<sockaddr>) -> String? {
        let length: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: length = MemoryLayout<sockaddr_in>.size
        case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = getnameinfo(
            address, socklen_t(length), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
        return result == 0 ? text(name) : nil
    }

    /// Asks the kernel (ETHTOOL_GDRVINFO of linux/ethtool.h), which needs no permission, and not sysfs, which may be another network
    /// namespace's.
    private static func driver(of name: String) -> String? {
        let (informationBytes, requestBytes, driverRange) = (196, 40, 4..<36)
        let (siocEthtool, getDriver, nameBytes) = (UInt(0x8946), UInt32(3), 16)
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, name.utf8.count < nameBytes else { return nil }
        defer { close(descriptor) }
        var information = [UInt8](repeating: 0, count: informationBytes)
        var request = [UInt8](repeating: 0, count: requestBytes)
        request.replaceSubrange(0..<name.utf8.count, with: name.utf8)
        let result = information.withUnsafeMutableBytes { information in
            information.storeBytes(of: getDriver, as: UInt32.self)
            return request.withUnsafeMutableBytes { request in
                request.storeBytes(
                    of: UInt(bitPattern: information.baseAddress), toByteOffset: nameBytes, as: UInt.self)
                guard let start = request.baseAddress else { return Int32(-1) }
                return ioctl(descriptor, siocEthtool, start)
            }
        }
        guard result == 0 else { return nil }
        let driver = text(information[driverRange].map { CChar(bitPattern: $0) })
        return driver.isEmpty ? nil : driver
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
