/// The query of a request (RFC 3986 section 3.4), written as forms write it (WHATWG URL, "application/x-www-form-urlencoded
/// parsing"): `NAME=VALUE` pairs with `&` between them, and `+` for a space.
package struct QueryParameters: Hashable, Sendable {
    /// One pair of the query.
    package struct Parameter: Hashable, Sendable {
        /// Decoded.
        package let name: String
        /// Decoded; empty where there is no `=`.
        package let value: String
    }

    /// In their order.
    package let all: [Parameter]

    /// Nil when something in it is not percent-encoded UTF-8.
    package init?(_ query: String?) {
        var all: [Parameter] = []
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(parts[0]), let value = Self.decode(parts.count == 2 ? parts[1] : "") else {
                return nil
            }
            all.append(Parameter(name: name, value: value))
        }
        self.all = all
    }

    /// The values of a parameter, in their order.
    package func values(of name: String) -> [String] {
        all.filter { $0.name == name }.map(\.value)
    }

    private static func decode(_ text: Substring) -> String? {
        PercentCoding.decode(text.split(separator: "+", omittingEmptySubsequences: false).joined(separator: " "))
    }
}
