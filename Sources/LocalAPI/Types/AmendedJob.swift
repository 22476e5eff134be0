package import HTTPCoding

/// What a job is that somebody has just written to although it was signed for, or is over: nothing is refused for that, but it shows
/// as an amendment, and people want to know.
package struct AmendedJob: Codable, Hashable, Sendable {
    /// `completed` or `cancelled`, published or asked for; null while the job is neither.
    @Nullable package var state: String?
    /// Who has signed for the inventory; null where nobody has.
    @Nullable package var signedBy: String?
    /// When the signature was asked for, in corrected time; null without one, or where no journal here says so.
    @Nullable package var signedAt: Timestamp?

    /// One of `state` and `signedBy` is given at least.
    package init(state: String?, signedBy: String?, signedAt: Timestamp?) {
        self.state = state
        self.signedBy = signedBy
        self.signedAt = signedAt
    }
}
