/// What the inviter reads to whoever sets the new laptop up, such as `7K3M-QX0T-94WD-BZES`: 4 characters that name the
/// invitation, 11 that are secret (55 bits), and one that finds mistakes.
///
/// The characters are those of Crockford's base 32, which has no I, L, O and U. The last one is a sum over GF(32) in
/// which each place has another weight: it fits no code in which one character is wrong or two have changed places.
package struct InvitationCode: Hashable, Sendable, CustomStringConvertible {
    /// How a code can fail to be one.
    package enum Fault: Error, Hashable, Sendable {
        /// It has so many characters, hyphens and spaces not counted, instead of 16.
        case length(Int)
        /// Base 32 has no such character.
        case character(Character)
        /// The last character does not fit the others.
        case mistyped

        /// What is wrong and what to do.
        package var sentence: String {
            switch self {
            case .length(let count):
                "A code has 16 characters, this one has \(count); have it read to you again."
            case .character(let character):
                "A code has no '\(character)', only digits and letters, not I, L, O and U; have it read to you again."
            case .mistyped:
                "There is a mistake in the code, and nothing was tried with it; compare each character, type it again."
            }
        }
    }

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    private static let nameLength = 4
    private static let length = 15

    /// Below 32 each, without the check.
    private let symbols: [UInt8]

    /// Draws a new one.
    ///
    /// - Parameter generator: has to be one that nobody can foresee.
    package init(using generator: inout some RandomNumberGenerator) {
        symbols = (0..<Self.length).map { _ in UInt8.random(in: 0..<32, using: &generator) }
    }

    /// Reads what a person has typed: capitals or not, with hyphens and spaces anywhere, O for 0, I and L for 1.
    package init(_ text: String) throws(Fault) {
        var symbols: [UInt8] = []
        for character in text where character != "-" && !character.isWhitespace {
            guard let symbol = Self.symbol(character) else { throw .character(character) }
            symbols.append(symbol)
        }
        guard symbols.count == Self.length + 1 else { throw .length(symbols.count) }
        let check = symbols.removeLast()
        guard check == Self.check(symbols) else { throw .mistyped }
        self.symbols = symbols
    }

    /// Says which invitation is meant; by itself it opens nothing.
    package var name: String { Self.text(symbols[..<Self.nameLength]) }

    /// 11 characters in capitals.
    var secret: String { Self.text(symbols[Self.nameLength...]) }

    /// In capitals, in four groups of four.
    package var description: String {
        let all = symbols + [Self.check(symbols)]
        return stride(from: 0, to: all.count, by: 4).map { Self.text(all[$0..<$0 + 4]) }.joined(separator: "-")
    }

    private static func text(_ symbols: ArraySlice<UInt8>) -> String { String(symbols.map { alphabet[Int($0)] }) }

    private static func symbol(_ character: Character) -> UInt8? {
        switch character {
        case "O", "o": 0
        case "I", "i", "L", "l": 1
        default: alphabet.firstIndex { String($0) == character.uppercased() }.map(UInt8.init)
        }
    }

    /// Powers of the element 2 as weights, which has 31 of them; the check itself has 1.
    private static func check(_ symbols: [UInt8]) -> UInt8 {
        symbols.reversed().reduce(0) { sum, symbol in doubled(sum ^ symbol) }
    }

    /// Times 2 in GF(32) with the polynomial x⁵ + x² + 1.
    private static func doubled(_ element: UInt8) -> UInt8 {
        let shifted = element << 1
        return shifted & 32 == 0 ? shifted : shifted ^ 0b10_0101
    }
}
