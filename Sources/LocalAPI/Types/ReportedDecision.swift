/// Something that was said about a job as a whole: by a person, or by the server.
package struct ReportedDecision: Codable, Hashable, Sendable {
    /// What was said; more may come.
    package enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// The server was asked for something: `name` says for what, `value` is the request's JSON.
        case asked
        /// Who had asked for it takes it back.
        case withdrew
        /// The server has carried it out.
        case accepted
        /// The server never will, for `reason`.
        case rejected
        /// The server has heard that it was taken back.
        case withdrawn
        /// The server says what the job is: `name` has `value` now.
        case published
        /// The job has ended as a whole (rule R10).
        case removedJob
        /// So many late changes were taken over or left out: `count`.
        case dealtWithLateWork
    }

    /// What was said.
    package var kind: Kind
    /// Of the request, 32 hexadecimal digits. This and what follows is absent where it is of no meaning.
    package var token: String?
    /// The kind of the request, or what is published: `state`, `name`, `kind`, `signature`; more may come.
    package var name: String?
    /// What is asked for, or published.
    package var value: String?
    /// Why it was rejected, for people.
    package var reason: String?
    /// How many.
    package var count: Int?

    /// What is of no meaning for the kind is left out.
    package init(
        _ kind: Kind, token: String? = nil, name: String? = nil, value: String? = nil, reason: String? = nil,
        count: Int? = nil
    ) {
        self.kind = kind
        self.token = token
        self.name = name
        self.value = value
        self.reason = reason
        self.count = count
    }
}
