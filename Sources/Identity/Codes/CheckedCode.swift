/// How a text that a person has typed can fail to be a code.
package enum CodeFault: Error, Hashable, Sendable {
    /// It has so many characters, hyphens and spaces not counted, instead of as many as it should.
    case length(Int, expected: Int)
    /// Base 32 has no such character.
    case character(Character)
    /// The last character of a block does not fit the others of the block.
    case mistyped

    /// What is wrong and what to do.
    package var sentence: String {
        switch self {
        case .length(let count, let expected):
            "A code has \(expected) characters, this one has \(count); compare it with what it was copied from."
        case .character(let character):
            "A code has no '\(character)', only digits and letters, not I, L, O and U; compare it, type it again."
        case .mistyped:
            "There is a mistake in the code, and nothing was tried with it; compare each character, type it again."
        }
    }
}

/// Characters that people read to each other, in blocks of 16 of which the last one finds mistakes in the other 15.
///
/// They are those of Crockford's base 32, which has no I, L, O and U. The last one is a sum over GF(32) in which each
/// place has another weight: it fits no block in which one character is wrong or two have changed places.
struct CheckedCode: Hashable, Sendable {
    /// Below 32 each, without the checks.
    let symbols: [UInt8]

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    private static let blockLength = 15

    /// Draws one of so many blocks.
    init(blocks: Int, using generator: inout some RandomNumberGenerator) {
        symbols = (0..<blocks * Self.blockLength).map { _ in UInt8.random(in: 0..<32, using: &generator) }
    }

    /// Reads what a person has typed: capitals or not, with hyphens and spaces anywhere, O for 0, I and L for 1.
    init(_ text: String, blocks: Int) throws(CodeFault) {
        var typed: [UInt8] = []
        for character in text where character != "-" && !character.isWhitespace {
            guard let symbol = Self.symbol(character) else { throw .character(character) }
            typed.append(symbol)
        }
        let length = Self.blockLength + 1
        guard typed.count == blocks * length else { throw .length(typed.count, expected: blocks * length) }
        var symbols: [UInt8] = []
        for start in stride(from: 0, to: typed.count, by: length) {
            let block = typed[start..<start + Self.blockLength]
            guard typed[start + Self.blockLength] == Self.check(block) else { throw .mistyped }
            symbols += block
        }
        self.symbols = symbols
    }

    /// In capitals, in groups of four with hyphens between them.
    var text: String {
        var all: [UInt8] = []
        for start in stride(from: 0, to: symbols.count, by: Self.blockLength) {
            let block = symbols[start..<start + Self.blockLength]
            all += block + [Self.check(block)]
        }
        return stride(from: 0, to: all.count, by: 4).map { Self.text(all[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// Those characters in capitals.
    static func text(_ symbols: ArraySlice<UInt8>) -> String { String(symbols.map { alphabet[Int($0)] }) }

    private static func symbol(_ character: Character) -> UInt8? {
        switch character {
        case "O", "o": 0
        case "I", "i", "L", "l": 1
        default: alphabet.firstIndex { String($0) == character.uppercased() }.map(UInt8.init)
        }
    }

    /// Powers of the element 2 as weights, which has 31 of them; the check itself has 1.
    private static func check(_ symbols: ArraySlice<UInt8>) -> UInt8 {
        symbols.reversed().reduce(0) { sum, symbol in doubled(sum ^ symbol) }
    }

    /// Times 2 in GF(32) with the polynomial x⁵ + x² + 1.
    private static func doubled(_ element: UInt8) -> UInt8 {
        let shifted = element << 1
        return shifted & 32 == 0 ? shifted : shifted ^ 0b10_0101
    }
}
