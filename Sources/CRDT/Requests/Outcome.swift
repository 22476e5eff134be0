/// What the server made of a mutation, once and for all.
package struct Outcome: Hashable, Sendable {
    package static let longestReason = 1_024

    package enum Verdict: UInt8, Hashable, Sendable, CaseIterable {
        case accepted = 1
        /// For good: the same request will never be accepted.
        case rejected = 2
        /// Whoever asked for it, or who looked after it, took it back before it was carried out.
        case withdrawn = 3
    }

    package let token: MutationToken
    package let verdict: Verdict
    /// For people: why not, and what to do. Empty when accepted; at most 1 KiB.
    package let reason: String

    package init(token: MutationToken, verdict: Verdict, reason: String = "") {
        self.token = token
        self.verdict = verdict
        self.reason = reason
    }
}

/// Something that the server owns and has said: the job's state, a signature. Of one name the last in the channel holds.
package struct PublishedValue: Hashable, Sendable {
    package let name: FieldName
    package let value: String

    package init(name: FieldName, value: String) {
        self.name = name
        self.value = value
    }
}
