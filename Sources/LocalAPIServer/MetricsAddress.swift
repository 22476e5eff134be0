/// Where figures for Prometheus are asked for.
package struct MetricsAddress: Hashable, Sendable, CustomStringConvertible {
    /// The host by which this machine alone is meant, at both of its loopback addresses.
    package static let thisMachine = "localhost"
    /// Every address of the machine.
    static let everyHost = "*"

    /// A name or an address, IPv6 without brackets.
    package let host: String
    package let port: Int

    /// Takes both as they are.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// As a setting has it.
    package var description: String { Self.text(host, port) }

    static func text(_ host: String, _ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Each is listened at, by the first of its addresses that the machine has.
    var places: [Place] {
        switch host {
        case Self.thisMachine: [Place(hosts: ["127.0.0.1"]), Place(hosts: ["::1"], mayBeMissing: true)]
        // One socket takes both families (RFC 3493, section 3.7), where the machine has IPv6 at all.
        case Self.everyHost: [Place(hosts: ["::", "0.0.0.0"])]
        default: [Place(hosts: [host])]
        }
    }

    /// One socket.
    struct Place: Hashable, Sendable {
        let hosts: [String]
        /// A machine without IPv6 has nothing to listen at there, and that is well.
        var mayBeMissing = false
    }

    /// Whether a request means this daemon: it names an address, this machine, or what the setting has. A page in a browser that had its
    /// own name resolved to this machine (DNS rebinding) says that name.
    func isMeant(by authority: String) -> Bool {
        let named = HostHeader.host(of: authority)
        return ["", "localhost", host.lowercased()].contains(named) || HostHeader.isNumeric(named)
    }
}

/// The header `Host` (RFC 9110 section 7.2).
enum HostHeader {
    /// Without the port and an IPv6 address's brackets, in lower case.
    static func host(of authority: String) -> String {
        let text = authority.lowercased()
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            return String(text[text.index(after: text.startIndex)..<end])
        }
        return String(text.prefix { $0 != ":" })
    }

    /// An IPv4 address, or what can only be an IPv6 one.
    static func isNumeric(_ host: String) -> Bool {
        if host.contains(":") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}
