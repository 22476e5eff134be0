/// Where a peer listens: a host's name or numeric address, and a port.
package struct PeerAddress: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// A name or a numeric address; IPv6 without brackets.
    package let host: String
    /// The TCP port; nothing but `init(_:)` holds it to 16 bits.
    package let port: Int

    /// Takes both as they are; `init(_:)` reads what people write.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// The host by which whoever listens means every address of its machine.
    package static let everyHost = "*"

    /// Reads `HOST:PORT`, IPv6 hosts in brackets, `*` for every one; nil for anything else.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else {
            return nil
        }
        let host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            self.init(sixth: host.dropFirst().dropLast(), port: port)
        } else {
            guard host == Self.everyHost || Self.isName(host) else { return nil }
            self.init(host: String(host), port: port)
        }
    }

    /// Orders by host as text, then by port: addresses are dialled in one order in every process.
    package static func < (left: PeerAddress, right: PeerAddress) -> Bool {
        (left.host, left.port) < (right.host, right.port)
    }

    /// The form that `init(_:)` reads: `HOST:PORT`, IPv6 hosts in brackets.
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
