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

    /// Without a fraction where it has none; what is no number as Prometheus spells it.
    package var text: String {
        guard value.isFinite else { return value.isNaN ? "NaN" : value < 0 ? "-Inf" : "+Inf" }
        guard let whole = Int64(exactly: value) else { return "\(value)" }
        return "\(whole)"
    }

    /// What an answer in Prometheus's text format is called (version 0.0.4, which has no labels that need quoting here).
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// The text format of Prometheus (version 0.0.4): three lines for each, of two with one name only the first, since one file that
    /// says something twice is refused as a whole.
    package static func prometheus(_ metrics: [Metric]) -> String {
        var told: Set<String> = []
        return metrics.filter { told.insert($0.name).inserted }.map { metric in
            """
            # HELP \(metric.name) \(metric.help.escapedHelp)
            # TYPE \(metric.name) \(metric.kind.rawValue)
            \(metric.name) \(metric.text)

            """
        }.joined()
    }
}

extension String {
    /// A line feed would end the line, and a backslash begins an escape.
    fileprivate var escapedHelp: String {
        reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\n", "\r\n": text += "\\n"
            default: text.append(character)
            }
        }
    }
}
