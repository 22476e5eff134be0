package import CRDT

/// The first bits of a key's name as three words, which two people compare: `lusab-babad-gutih`.
///
/// Each word is 16 bits as a proquint, consonants and vowels in turn (D. Wilkerson, "A Proposal for Proquints",
/// arXiv:0901.4016): they can be said aloud in any language, and need no list.
package enum KeyWords {
    private static let consonants = Array("bdfghjklmnprstvz")
    private static let vowels = Array("aiou")
    private static let wordCount = 3

    /// Of 48 bits; that two keys have the same ones, nobody can bring about who has not tried 2⁴⁷ keys.
    package static func of(_ key: DevicePublicKey) -> String { of(key.device) }

    /// The same of a key's hash.
    package static func of(_ device: DeviceID) -> String {
        let bits = device.high >> (128 - 16 * wordCount)
        return (1...wordCount).map { word(UInt16(truncatingIfNeeded: bits >> (16 * (wordCount - $0)))) }
            .joined(separator: "-")
    }

    /// Four bits for a consonant, two for a vowel, from the highest on.
    static func word(_ bits: UInt16) -> String {
        let letters = [
            consonants[Int(bits >> 12)], vowels[Int(bits >> 10 & 3)], consonants[Int(bits >> 6 & 15)],
            vowels[Int(bits >> 4 & 3)], consonants[Int(bits & 15)],
        ]
        return String(letters)
    }
}
