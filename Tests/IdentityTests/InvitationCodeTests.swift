import CRDT
import Testing

@testable import Identity

@Suite("Invitation codes")
struct InvitationCodeTests {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    private func code(seed: UInt64) -> InvitationCode {
        var generator = SeededGenerator(seed: seed)
        return InvitationCode(using: &generator)
    }

    @Test("A code that is typed as it was read is the same, whatever hyphens, spaces and capitals", arguments: 1...20)
    func typedBack(seed: Int) throws {
        let code = code(seed: UInt64(seed))
        let text = code.description
        #expect(text.count == 19 && text.split(separator: "-").allSatisfy { $0.count == 4 })
        #expect(text.hasPrefix(code.name + "-"))
        for typed in [
            text, text.lowercased(), text.filter { $0 != "-" }, " " + text.map { String($0) }.joined(separator: " "),
            text.replacing("0", with: "o").replacing("1", with: "l"), text.replacing("1", with: "I"),
        ] {
            #expect(try InvitationCode(typed) == code, "\(typed)")
        }
    }

    @Test("One wrong character is noticed, wherever it stands and whatever it is", arguments: [1, 2, 3])
    func oneWrong(seed: UInt64) {
        let right = Array(code(seed: seed).description.filter { $0 != "-" })
        for place in right.indices {
            for other in Self.alphabet where other != right[place] {
                var typed = right
                typed[place] = other
                #expect(throws: CodeFault.mistyped) { try InvitationCode(String(typed)) }
            }
        }
    }

    @Test("Two characters that changed places are noticed, however far apart", arguments: [1, 2, 3])
    func swapped(seed: UInt64) {
        let right = Array(code(seed: seed).description.filter { $0 != "-" })
        for (one, other) in right.indices.flatMap({ one in right.indices.dropFirst(one + 1).map { (one, $0) } })
        where right[one] != right[other] {
            var typed = right
            typed.swapAt(one, other)
            #expect(throws: CodeFault.mistyped) { try InvitationCode(String(typed)) }
        }
    }

    @Test("What cannot be a code says why")
    func faults() {
        #expect(throws: CodeFault.length(0, expected: 16)) { try InvitationCode(" - ") }
        #expect(throws: CodeFault.length(17, expected: 16)) { try InvitationCode("7K3M-QX0T-94WD-BZES8") }
        #expect(throws: CodeFault.character("U")) { try InvitationCode("7K3M-QX0T-94WD-BZEU") }
        #expect(throws: CodeFault.character("é")) { try InvitationCode("é") }
    }

    @Test("Each character of the 15 that are drawn takes every value")
    func spread() {
        var generator = SeededGenerator(seed: 4)
        let codes = (0..<2_000).map { _ in
            Array(InvitationCode(using: &generator).description.filter { $0 != "-" })
        }
        for place in 0..<16 { #expect(Set(codes.map { $0[place] }).count == 32, "place \(place)") }
    }
}
