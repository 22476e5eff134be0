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
    }

    /// Its host, without port and brackets.
    package var host: String {
        let place = base.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" }
        if place.first == "[" { return String(place.dropFirst().prefix { $0 != "]" }) }
        return String(place.prefix { $0 != ":" })
    }

    /// What is said there is encrypted.
    package var isEncrypted: Bool { base.lowercased().hasPrefix("https://") }

    /// What a server that has several names is asked for (RFC 6066 section 3); nil for an address, which is no name.
    var name: String? { (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil }

    /// The TCP port: the scheme's own unless another is named (RFC 9110 section 4.2).
    var port: Int {
        let place = base.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" }
        let named = place.last { $0 == ":" || $0 == "]" } == ":" ? place.split(separator: ":").last : nil
        return named.flatMap { Int($0) } ?? (isEncrypted ? 443 : 80)
    }

    /// The URL of a resource of the API.
    func url(_ path: String) -> String { base + path }

    /// The URL as it was given, without slashes at its end.
    package var description: String { base }
}
