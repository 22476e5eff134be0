/// What the inviter reads to whoever sets the new laptop up, such as `7K3M-QX0T-94WD-BZES`: 4 characters that name the
/// invitation, 11 that are secret (55 bits), and one that finds mistakes (`CheckedCode`).
package struct InvitationCode: Hashable, Sendable, CustomStringConvertible {
    private static let nameLength = 4

    private let code: CheckedCode

    /// Draws a new one.
    ///
    /// - Parameter generator: has to be one that nobody can foresee.
    package init(using generator: inout some RandomNumberGenerator) {
        code = CheckedCode(blocks: 1, using: &generator)
    }

    /// Reads what a person has typed: capitals or not, with hyphens and spaces anywhere, O for 0, I and L for 1.
    package init(_ text: String) throws(CodeFault) {
        code = try CheckedCode(text, blocks: 1)
    }

    /// Says which invitation is meant; by itself it opens nothing.
    package var name: String { CheckedCode.text(code.symbols[..<Self.nameLength]) }

    /// 11 characters in capitals.
    var secret: String { CheckedCode.text(code.symbols[Self.nameLength...]) }

    /// In capitals, in four groups of four.
    package var description: String { code.text }
}
