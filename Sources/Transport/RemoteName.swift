import NIOCore

#if canImport(Glibc)
    import Glibc
#endif

/// An address as people write it: `192.0.2.1:7000`, `[2001:db8::1]:7000`, `[fe80::1%eth0]:7000`.
struct RemoteName {
    let text: String
    /// Without the port.
    let host: String

    init(_ address: SocketAddress) {
        host = Self.host(of: address)
        text = Self.text(host: host, port: address.port ?? 0)
    }

    private static func host(of address: SocketAddress) -> String {
        guard let numeric = address.ipAddress else { return address.description }
        // Who comes over IPv4 to a listener of both families is the same as anywhere else (RFC 4291 section 2.5.5.2).
        if numeric.hasPrefix("::ffff:"), numeric.contains(".") { return String(numeric.dropFirst(7)) }
        guard numeric.hasPrefix("fe80:") else { return numeric }
        // It is no address without the interface through which it is reached (RFC 4007 section 11).
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = address.withSockAddr {
            getnameinfo($0, socklen_t($1), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
        }
        guard result == 0 else { return numeric }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func text(host: String, port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
