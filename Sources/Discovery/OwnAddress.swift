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

    /// Those of this machine now. An interface that is down has some, too: avahi tells of them once it is up.
    ///
    /// The loopback's are among them: avahi shows a service to its own machine there, and resolves none that has no address there.
    ///
    /// - Returns: nil where they cannot be read, which is not to have none: for that the kernel has to give a socket.
    static var all: [OwnAddress]? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var addresses: [OwnAddress] = []
        for entry in sequence(first: list, next: { $0?.pointee.ifa_next }) {
            guard let entry = entry?.pointee, let bytes = entry.ifa_addr.flatMap(bytes(of:)) else { continue }
            let interface = if_nametoindex(entry.ifa_name)
            // It may have gone meanwhile.
            guard interface != 0 || [ENODEV, ENXIO].contains(errno) else { return nil }
            if interface != 0 { addresses.append(OwnAddress(interface: interface, bytes: bytes)) }
        }
        return addresses
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
