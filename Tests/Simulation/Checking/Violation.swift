/// A rule that was broken: the run ends with it.
package struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
    /// As ARCHITECTURE.md numbers them; "liveness" when agreement did not come in time.
    package let rule: String
    package let text: String

    init(_ rule: String, _ text: String) {
        self.rule = rule
        self.text = text
    }

    package var description: String { "\(rule): \(text)" }
}
