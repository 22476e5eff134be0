package import CRDT

/// One attempt to deliver a mutation, after it has ended.
package struct AttemptEvent: Hashable, Sendable {
    /// Which request was sent; each attempt carries the same token.
    package let token: MutationToken
    /// From 1, per token.
    package let attempt: Int
    /// When it began, and the next one is due if there will be one: milliseconds since the boot. Whoever stores the event
    /// adds the time that people know.
    package let began: UInt64
    /// As `began`; nil after `accepted`, `rejected` and `cancelled`.
    package internal(set) var nextAttempt: UInt64?
    /// From sending to the end; 0 where a crash ended it.
    package let durationMilliseconds: UInt64
    /// How it ended, as the log of attempts keeps it.
    package let outcome: Ending
    /// Of the HTTP response, if there was one.
    package let status: Int?
    /// What the server or the network said, for people.
    package let detail: String

    /// Takes the parts as they are. In an event that is read back from the store both times are corrected milliseconds
    /// since 1970.
    package init(
        token: MutationToken, attempt: Int, began: UInt64, nextAttempt: UInt64?, durationMilliseconds: UInt64,
        outcome: Ending, status: Int?, detail: String
    ) {
        self.token = token
        self.attempt = attempt
        self.began = began
        self.nextAttempt = nextAttempt
        self.durationMilliseconds = durationMilliseconds
        self.outcome = outcome
        self.status = status
        self.detail = detail
    }

    /// How an attempt ended; the raw values are stored, and shown to people.
    package enum Ending: String, Hashable, Sendable, CaseIterable {
        case accepted
        case rejected
        case predecessorMissing
        case tryAgain
        case serverBusy
        case unauthorised
        case unreachable
        case answerLost
        case deadlineExceeded
        /// Given up because it had become pointless: there was an outcome, or a person dropped it.
        case cancelled
        /// The daemon ended first: a crash, or a power cut. Nobody knows whether the server got it.
        case interrupted
    }
}
