#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An address of this machine, and the interface that has it: avahi tells of it there, and on no other network.
struct OwnAddress: Hashable, Sendable {
    /// More than so many an interface are not told of.
    static let mostPerInterface = 16

    /// The index of the interface.
    let interface: UInt32
    /// As in its record: 4 or 16.
    let bytes: [UInt8]

    private var isSixth: Bool { bytes.count == 16 }
    private var isLinkLocal: Bool { isSixth && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 }

    /// Those of them that others are told: a link-local IPv6 address only where there is no other one.
    static func told(of addresses: [OwnAddress]) -> Set<OwnAddress> {
        Set(
            Dictionary(grouping: addresses, by: \.interface).values.flatMap { addresses in
                let others = addresses.filter { !$0.isLinkLocal }
                let told = others.contains(where: \.isSixth) ? others : addresses
                // Always the same ones: IPv4 first, since everybody has that.
                return told.sorted {
                    $0.isSixth == $1.isSixth ? $0.bytes.lexicographicallyPrecedes($1.bytes) : $1.isSixth
                }.prefix(mostPerInterface)
            })
    }

    /// Those of this machine now, without the loopback's. An interface that is down has some, too: avahi tells of them once it is up.
    static var all: [OwnAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        return sequence(first: list) { $0?.pointee.ifa_next }.compactMap { entry in
            guard let entry = entry?.pointee, entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
                let bytes = entry.ifa_addr.flatMap(bytes(of:))
            else { return nil }
            let interface = if_nametoindex(entry.ifa_name)
            return interface == 0 ? nil : OwnAddress(interface: interface, bytes: bytes)
        }
    }

    private static func bytes(of address: UnsafeMutablePointer<sockaddr>) -> [UInt8]? {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
            }
        default: nil
        }
    }
}
