/// The name of a mutation, made by who asks for it: 128 random bits.
package struct MutationToken: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// All that a token is: it says nothing of who asked or when.
    package let value: UInt128

    /// Takes any number; `random` mints one.
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

    /// Orders as numbers, for lists that are to be the same everywhere.
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
    /// The key of its effect: it has at most one at the server (rule R8).
    package let token: MutationToken
    /// 1 to 64 of `A–Z a–z 0–9 . _ -`.
    package let lane: String
    /// The one that it follows in its lane of this job, its author's own or another's; the server carries none out
    /// before that has an outcome. Nil for the first, and where a lane keeps no such order.
    package let after: MutationToken?
    /// 0 goes last, 255 first.
    package let priority: UInt8
    /// 1 to 64 of `A–Z a–z 0–9 . _ -`.
    package let kind: String
    /// JSON of the kind, at most 64 KiB.
    package let payload: [UInt8]

    /// Takes the parts as they are; `isWellFormed` says whether they keep the bounds.
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
