/// What the server made of a mutation, once and for all.
package struct Outcome: Hashable, Sendable {
    /// In bytes of UTF-8: 1 KiB.
    package static let longestReason = 1_024

    /// What was decided; the raw values are part of the format.
    package enum Verdict: UInt8, Hashable, Sendable, CaseIterable {
        case accepted = 1
        /// For good: the same request will never be accepted.
        case rejected = 2
        /// Whoever asked for it, or who looked after it, took it back before it was carried out.
        case withdrawn = 3
    }

    /// Whose outcome it is; each token has one.
    package let token: MutationToken
    /// Whether the request was carried out.
    package let verdict: Verdict
    /// For people: why not, and what to do. Empty when accepted; at most 1 KiB.
    package let reason: String

    /// Takes the reason as it is; what is read has at most `longestReason` bytes.
    package init(token: MutationToken, verdict: Verdict, reason: String = "") {
        self.token = token
        self.verdict = verdict
        self.reason = reason
    }
}

/// Something that the server owns and has said: the job's state, a signature. Of one name the last in the channel holds.
package struct PublishedValue: Hashable, Sendable {
    /// Such as `state` or `signature`.
    package let name: FieldName
    /// Read by whoever knows the name; at most `ChangeLimits.valueBytes` bytes of UTF-8.
    package let value: String

    /// Takes the value as it is; a longer one is refused where it is read.
    package init(name: FieldName, value: String) {
        self.name = name
        self.value = value
    }
}
