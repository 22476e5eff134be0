import NIOCore

/// Where a company's server answers, for example `https://muster.example/api`.
package struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    /// Without a slash at the end.
    private let base: String

    /// Nil for anything but an http or https URL without user, query and fragment.
    package init?(_ text: String) {
        var rest = text[...]
        while rest.hasSuffix("/") { rest = rest.dropLast() }
        let schemes = ["http://", "https://"].filter { rest.lowercased().hasPrefix($0) }
        guard let scheme = schemes.first, rest.utf8.count <= 1_024 else { return nil }
        let place = rest.dropFirst(scheme.count)
        let isPrintable = place.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value != 0x7F }
        guard isPrintable, let first = place.first, !"/:".contains(first), !place.contains(where: "@?#\\".contains)
        else { return nil }
        base = String(rest)
        guard hasHost, (1...Int(UInt16.max)).contains(port) else { return nil }
    }

    /// What is named is an address or a name. Digits and dots alone are meant for an address (RFC 1123 section 2.1).
    private var hasHost: Bool {
        let host = host.utf8
        // Of what else is in brackets the resolver judges.
        if authority.isSixth { return host.contains(UInt8(ascii: ":")) && base.contains("]") }
        let isNumeric = host.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
        return isNumeric ? name == nil : host.allSatisfy { Self.isOfNames($0) }
    }

    private static func isOfNames(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-._".utf8.contains(byte)
    }

    /// The host without its brackets, whether it has them, and what follows it: nothing, or a colon and the port.
    private var authority: (host: Substring, isSixth: Bool, rest: Substring) {
        let place = base.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" }
        let isSixth = place.first == "["
        let host = isSixth ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" }
        return (host, isSixth, place[host.endIndex...].dropFirst(isSixth ? 1 : 0))
    }

    /// Its host, without port and brackets.
    package var host: String { String(authority.host) }

    /// What is said there is encrypted.
    package var isEncrypted: Bool { base.lowercased().hasPrefix("https://") }

    /// What a server that has several names is asked for (RFC 6066 section 3); nil for an address, which is no name.
    var name: String? { (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil }

    /// The TCP port: the scheme's own unless another is named (RFC 9110 section 4.2).
    var port: Int {
        let rest = authority.rest
        guard !rest.isEmpty else { return isEncrypted ? 443 : 80 }
        let digits = rest.dropFirst()
        // Zero is none.
        return rest.first == ":" && digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) ?? 0 : 0
    }

    /// The URL of a resource of the API.
    func url(_ path: String) -> String { base + path }

    /// The URL as it was given, without slashes at its end.
    package var description: String { base }
}
