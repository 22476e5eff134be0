/// A person at a laptop, from when on, and how far off the laptop's clock was then (docs/people.md).
package struct WorkSession: Hashable, Sendable {
    /// In bytes of UTF-8, of a person's name.
    package static let longestName = 64

    /// As it stands on the crew's list: 1 to `longestName` bytes.
    package let name: String
    /// Corrected milliseconds since 1970.
    package let since: UInt64
    /// The wall clock minus corrected time at the start, in milliseconds; nil when nobody could say.
    package let drift: Int64?
    /// How far corrected time may have been off, either way, in milliseconds; nil as above.
    package let uncertainty: Int64?

    /// Nil for a name that is empty or too long.
    package init?(name: String, since: UInt64, drift: Int64?, uncertainty: Int64?) {
        guard (1...Self.longestName).contains(name.utf8.count) else { return nil }
        self.name = name
        self.since = since
        self.drift = drift
        self.uncertainty = uncertainty
    }

    /// As a journal and the store have it: `SINCE DRIFT UNCERTAINTY NAME`, a `-` for what is not known.
    package var text: String {
        "\(since) \(drift.map(String.init) ?? "-") \(uncertainty.map(String.init) ?? "-") \(name)"
    }

    /// Nil for a text that says that nobody is there (the empty one), or cannot be read.
    package init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let since = UInt64(parts[0]), let drift = Self.number(parts[1]),
            let uncertainty = Self.number(parts[2])
        else { return nil }
        self.init(name: String(parts[3]), since: since, drift: drift, uncertainty: uncertainty)
    }

    /// Nil for what is no number, a nil within for one that is not known.
    private static func number(_ text: Substring) -> Int64?? {
        text == "-" ? .some(nil) : Int64(text).map { .some($0) }
    }
}
