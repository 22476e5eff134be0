import NIOCore

#if canImport(Glibc)
    import Glibc
#endif

/// Whether an address could be listened on once this process has let go of its own.
enum ListenCheck {
    /// - Returns: what the system says to it; nil where it can be.
    static func objection(to host: String, port: Int) -> String? {
        let place: ListenPlace?
        do {
            // As the server will find it: of a name that has several it takes this one.
            place = try SocketAddress.makeAddressResolvingHost(host, port: port).withSockAddr { address, _ in
                ListenPlace(address)
            }
        } catch let error as SocketAddressError.UnknownHost {
            return error.errorDescription
        } catch {
            return "\(error)"
        }
        guard let place else { return "no address of IP" }
        let failure = place.failure
        guard failure == EADDRINUSE else { return failure == 0 ? nil : String(cString: strerror(failure)) }
        let own = ListenPlace.ofThisProcess
        if own.contains(where: { $0.covers(place) }) { return nil }
        // All addresses, of which this process has some: who has the others?
        let isOwnInPart = own.contains { place.covers($0) }
        let others = ListenPlace.ofThisMachine(port: port).filter { other in
            place.covers(other) && !own.contains { $0.covers(other) }
        }
        return isOwnInPart && others.allSatisfy { $0.failure != EADDRINUSE } ? nil : String(cString: strerror(failure))
    }
}

/// An address with a port, as bind(2) takes it.
private struct ListenPlace {
    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    private static let everyAddress = [UInt8](repeating: 0, count: 16)

    private var storage = sockaddr_storage()
    /// As IPv6 writes it (RFC 4291 section 2.5.5.2), so that the two kinds can be compared.
    private let bytes: [UInt8]
    private var port: in_port_t

    /// - Returns: nil for what is no address of IP.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let fourth = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
            port = fourth.sin_port
            bytes = Self.mapped + withUnsafeBytes(of: fourth.sin_addr) { Array($0) }
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: fourth, as: sockaddr_in.self) }
        case AF_INET6:
            let sixth = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
            port = sixth.sin6_port
            bytes = withUnsafeBytes(of: sixth.sin6_addr) { Array($0) }
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: sixth, as: sockaddr_in6.self) }
        default: return nil
        }
    }

    /// Whoever listens here leaves nobody the other one.
    func covers(_ other: ListenPlace) -> Bool {
        let isEveryFourth = bytes == Self.mapped + [0, 0, 0, 0] && other.bytes.starts(with: Self.mapped)
        return port == other.port && (bytes == other.bytes || bytes == Self.everyAddress || isEveryFourth)
    }

    /// errno of a try; 0 where it can be had.
    var failure: Int32 {
        let family = Int32(storage.ss_family)
        let socket = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return errno }
        defer { close(socket) }
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        let code = withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, socklen_t(size)) }
        }
        return code == 0 ? 0 : errno
    }

    /// Where this process listens by now, as the kernel knows.
    static var ofThisProcess: [ListenPlace] {
        guard let directory = opendir("/proc/self/fd") else { return [] }
        defer { closedir(directory) }
        var places: [ListenPlace] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let descriptor = Int32(name) else { continue }
            var (listens, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens == 1 else {
                continue
            }
            var (address, length) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    guard getsockname(descriptor, address, &length) == 0 else { return }
                    if let place = ListenPlace(address) { places.append(place) }
                }
            }
        }
        return places
    }

    /// Each address of this machine.
    static func ofThisMachine(port: Int) -> [ListenPlace] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var (next, places) = (first, [ListenPlace]())
        while let entry = next {
            if let address = entry.pointee.ifa_addr, var place = ListenPlace(address) {
                place.set(port: in_port_t(port).bigEndian)
                places.append(place)
            }
            next = entry.pointee.ifa_next
        }
        return places
    }

    private mutating func set(port: in_port_t) {
        self.port = port
        // Both kinds have it at the same place.
        withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: port, toByteOffset: 2, as: in_port_t.self) }
    }
}
