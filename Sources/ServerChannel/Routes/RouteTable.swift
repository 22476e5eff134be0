import NIOCore

/// The ways out of this machine, as the kernel lists them: enough to tell whether a server can be reached at all.
package struct RouteTable: Hashable, Sendable {
    /// A range of addresses to which a way leads.
    package struct Route: Hashable, Sendable {
        /// 4 or 16 bytes, zero after the prefix.
        package let destination: [UInt8]
        /// 0 for a default route.
        package let prefixLength: Int

        /// It leads to this machine itself: the addresses that it has.
        package let isOwn: Bool

        /// `destination` has 4 or 16 bytes, `prefixLength` at most as many bits.
        package init(destination: [UInt8], prefixLength: Int, isOwn: Bool = false) {
            self.destination = destination
            self.prefixLength = prefixLength
            self.isOwn = isOwn
        }
    }

    /// Only those that lead somewhere: unicast and local ones, IPv4 and IPv6.
    package var routes: Set<Route> = []

    /// Without a route only this machine, by name, is reached.
    package init() {}

    /// Whether this machine has lost an address that it had by a former table, and from which it may have spoken to a host: nothing goes
    /// through connections that began there, and nobody says so.
    package func lacksAddress(of former: RouteTable, towards host: String) -> Bool {
        let target = Self.bytes(of: host)
        return former.routes.contains { route in
            guard route.isOwn, !routes.contains(route) else { return false }
            guard let target else { return !route.isLinkLocal }
            // Containers come and go with an address of their own, which is link-local.
            return target.count == route.destination.count && (!route.isLinkLocal || Self.isLinkLocal(target))
        }
    }

    /// 169.254.0.0/16 (RFC 3927) and fe80::/10 (RFC 4291).
    fileprivate static func isLinkLocal(_ address: [UInt8]) -> Bool {
        address.count == 4 ? address[0] == 169 && address[1] == 254 : address[0] == 0xFE && address[1] & 0xC0 == 0x80
    }

    /// Whether packets to a host find a way. Of a name nothing is known but that it needs a default route.
    package func reaches(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        guard let address = Self.bytes(of: host) else { return routes.contains { $0.prefixLength == 0 } }
        return routes.contains { $0.covers(address) }
    }

    /// A numeric address, without the scope of a link-local one.
    private static func bytes(of host: String) -> [UInt8]? {
        let numeric = String(host.prefix { $0 != "%" })
        guard let address = try? SocketAddress(ipAddress: numeric, port: 0) else { return nil }
        // Where it stands in `struct sockaddr_in` and `struct sockaddr_in6` (ip(7), ipv6(7)).
        let place = if case .v4 = address { 4..<8 } else { 8..<24 }
        return address.withSockAddr { Array(UnsafeRawBufferPointer(start: $0, count: $1)[place]) }
    }
}

extension RouteTable.Route {
    fileprivate var isLinkLocal: Bool { RouteTable.isLinkLocal(destination) }

    fileprivate func covers(_ address: [UInt8]) -> Bool {
        guard address.count == destination.count else { return false }
        for (index, byte) in address.enumerated() {
            let bits = min(max(prefixLength - index * 8, 0), 8)
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            if (byte ^ destination[index]) & mask != 0 { return false }
        }
        return true
    }
}
