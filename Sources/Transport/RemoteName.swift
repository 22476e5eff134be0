import NIOCore

/// An address as people write it: `192.0.2.1:7000`, `[2001:db8::1]:7000`.
struct RemoteName {
    let text: String
    /// Without the port.
    let host: String

    init(_ address: SocketAddress) {
        host = address.ipAddress ?? address.description
        text = Self.text(host: host, port: address.port ?? 0)
    }

    static func text(host: String, port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
