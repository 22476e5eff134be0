import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#endif

/// What the doctor looks at outside the daemon.
enum Surroundings {
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
