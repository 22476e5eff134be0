/// The name of a mutation, made by who asks for it: 128 random bits.
package struct MutationToken: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let value: UInt128

    package init(_ value: UInt128) {
        self.value = value
    }

    /// Reads 32 hexadecimal digits; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard let value = UInt128(hexadecimalDigits: text, count: 32) else { return nil }
        self.value = value
    }

    /// Mints a new token.
    package static func random(using generator: inout some RandomNumberGenerator) -> MutationToken {
        MutationToken(UInt128.random(in: 0...UInt128.max, using: &generator))
    }

    package static func < (left: MutationToken, right: MutationToken) -> Bool {
        left.value < right.value
    }

    /// 32 lower-case hexadecimal digits.
    package var description: String {
        value.hexadecimalDigits(count: 32)
    }
}

/// A request to change what the server owns, as it stands in its author's journal.
package struct MutationRequest: Hashable, Sendable {
    package let token: MutationToken
    /// 1 to 64 of `A–Z a–z 0–9 . _ -`.
    package let lane: String
    /// The one before it in its author's lane of this job; the server carries none out before that has an outcome.
    package let after: MutationToken?
    /// 0 goes last, 255 first.
    package let priority: UInt8
    /// 1 to 64 of `A–Z a–z 0–9 . _ -`.
    package let kind: String
    /// JSON of the kind, at most 64 KiB.
    package let payload: [UInt8]

    package init(
        token: MutationToken, lane: String, after: MutationToken?, priority: UInt8, kind: String, payload: [UInt8]
    ) {
        self.token = token
        self.lane = lane
        self.after = after
        self.priority = priority
        self.kind = kind
        self.payload = payload
    }
}
