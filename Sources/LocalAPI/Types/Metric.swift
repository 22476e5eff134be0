/// One number about the daemon, as Prometheus has them.
package struct Metric: Codable, Hashable, Sendable {
    /// Whether it only grows as long as the daemon runs.
    package enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        case gauge
        case counter
    }

    /// With its unit last.
    package var name: String
    /// What it does.
    package var kind: Kind
    /// What it is, for people.
    package var help: String
    /// In the unit that the name says.
    package var value: Double

    package init(name: String, kind: Kind, help: String, value: Double) {
        self.name = name
        self.kind = kind
        self.help = help
        self.value = value
    }

    /// Without a fraction where it has none.
    package var text: String {
        guard let whole = Int64(exactly: value) else { return "\(value)" }
        return "\(whole)"
    }

    /// The text format of Prometheus (version 0.0.4).
    package static func prometheus(_ metrics: [Metric]) -> String {
        metrics.map { metric in
            "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n\(metric.name) \(metric.text)\n"
        }.joined()
    }
}
