/// The name of a mutation, made by who asks for it: it says whose it is, so that nobody uses up another's (`Authorship`).
package struct MutationToken: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The first 48 bits are chance, the other 80 follow from its author's key.
    package let value: UInt128

    /// Takes any number; `Authorship` mints one.
    package init(_ value: UInt128) {
        self.value = value
    }

    /// Reads 32 hexadecimal digits; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard let value = UInt128(hexadecimalDigits: text, count: 32) else { return nil }
        self.value = value
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
    /// Who asks, and that they have signed it.
    package var signature: RequestSignature

    /// Takes the parts as they are; `isWellFormed` says whether they keep the bounds.
    package init(
        token: MutationToken, lane: String, after: MutationToken?, priority: UInt8, kind: String, payload: [UInt8],
        signature: RequestSignature = .none
    ) {
        self.token = token
        self.lane = lane
        self.after = after
        self.priority = priority
        self.kind = kind
        self.payload = payload
        self.signature = signature
    }
}
