import CDispatch
import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#endif

/// What the doctor looks at outside the daemon.
enum Surroundings {
    /// Numeric addresses of interfaces that are up, without loopback and link-local ones; sorted.
    static var addresses: [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: Set<String> = []
        var next = list
        while let interface = next?.pointee {
            next = interface.ifa_next
            guard interface.ifa_flags & UInt32(IFF_UP) != 0, interface.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
                let address = interface.ifa_addr, let text = numeric(address), !text.hasPrefix("fe80:")
            else { continue }
            found.insert(text)
        }
        return found.sorted()
    }

    /// For users other than root on the disk of a path, in bytes; nil when the system does not tell.
    static func freeBytes(at path: String) -> UInt64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    /// 0 for a file that is not there.
    static func fileBytes(at path: String) -> UInt64 {
        UInt64(attributes(at: path)?[.size] as? UInt ?? 0)
    }

    /// Of the file that a path leads to, through links; nil when there is none.
    static func attributes(at path: String) -> [FileAttributeKey: Any]? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return try? FileManager.default.attributesOfItem(atPath: String(cString: resolved))
    }

    /// Nil for what is neither IPv4 nor IPv6.
    static func numeric(_ address: UnsafeMutablePointer<sockaddr>) -> String? {
        let length: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: length = MemoryLayout<sockaddr_in>.size
        case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = getnameinfo(
            address, socklen_t(length), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
        guard result == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
