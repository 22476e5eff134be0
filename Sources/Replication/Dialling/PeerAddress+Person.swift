extension PeerAddress {
    /// Reads what a person types: `HOST`, `HOST:PORT`, IPv6 hosts in brackets, with their zone where they need one (RFC 4007 section
    /// 11); nil for what is none.
    ///
    /// - Parameter defaultPort: where none is given.
    package init?(byPerson text: String, defaultPort: Int) {
        let isBracketed = text.hasPrefix("[")
        let end = isBracketed ? text.firstIndex(of: "]") : text.firstIndex(of: ":") ?? text.endIndex
        guard let end else { return nil }
        let host = isBracketed ? text[..<end].dropFirst() : text[..<end]
        let rest = isBracketed ? text[text.index(after: end)...] : text[end...]
        guard isBracketed ? Self.isIPv6(host) : Self.isName(host) else { return nil }
        guard !rest.isEmpty else {
            self.init(host: String(host), port: defaultPort)
            return
        }
        guard rest.first == ":", let port = Self.port(rest.dropFirst()), port > 0 else { return nil }
        self.init(host: String(host), port: port)
    }

    /// - Parameter host: an IPv6 address without its brackets; nil for what is none.
    init?(sixth host: Substring, port: Int) {
        guard Self.isIPv6(host) else { return nil }
        self.init(host: String(host), port: port)
    }

    static func port(_ digits: Substring) -> Int? {
        // A number may have a sign; a port has none.
        digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt16(digits).map { Int($0) } : nil
    }

    /// A name (RFC 1123 section 2.1) or an IPv4 address; mDNS and Windows have names with `_`.
    static func isName(_ host: Substring) -> Bool {
        // Digits and dots alone are meant for an address (the same section).
        if host.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) {
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
        }
        return (1...253).contains(host.utf8.count)
            && host.unicodeScalars.allSatisfy {
                isLetter($0) || ("0"..."9").contains($0) || "-._".unicodeScalars.contains($0)
            }
    }

    private static func isIPv6(_ host: Substring) -> Bool {
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        // Whether it is one, the resolver says: here only what is meant for one is told from a name.
        let isAddress =
            parts[0].contains(":")
            && parts[0].unicodeScalars.allSatisfy {
                ("0"..."9").contains($0) || ("a"..."f").contains($0) || ("A"..."F").contains($0) || $0 == ":"
                    || $0 == "."
            }
        return isAddress && parts[0].utf8.count <= 45
            && (parts.count == 1
                || (1...15).contains(parts[1].utf8.count) && !parts[1].contains { $0.isWhitespace || $0 == "/" })
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
            || scalar.value > 0x7F && scalar.properties.isAlphabetic
    }
}
