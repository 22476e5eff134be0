import CRDT
import Testing

@testable import Inventory

/// What people may enter, and when two texts are the same.
struct FieldTextTests {
    @Test(
        "A key loses the white space around it and nothing else",
        arguments: [
            ("200091\r\n", "200091"), ("\t 200091 \u{A0}\u{3000}", "200091"), ("a b", "a b"), (" \r\n\t", ""), ("", ""),
            ("Cafe\u{301}", "Cafe\u{301}"), ("\u{1F6CB}", "\u{1F6CB}"), (" \u{301}x", "\u{301}x"),
        ])
    func keys(text: String, expected: String) throws {
        let entered = try FieldText.entered(text, as: .key, called: "The barcode")
        #expect(Array(entered.utf8) == Array(expected.utf8))
    }

    @Test(
        "A control character inside a key is refused, with what to do",
        arguments: ["AB\0one", "a\tb", "a\nb", "a\u{7F}b", "a\u{85}b", "\0", "\u{1B}[31mx"])
    func controls(text: String) {
        let refusal = #expect(throws: FieldTextRefusal.self) {
            try FieldText.entered(text, as: .key, called: "The value of 'barcode'")
        }
        #expect(
            refusal?.sentence
                == "The value of 'barcode' has a control character inside, such as a tab or a line end; leave it out."
        )
    }

    @Test("Any other text is kept as it is, but NUL is refused")
    func texts() throws {
        for text in ["", " a ", "a\r\nb\t", "\u{202E}x", "Cafe\u{301}", "\u{FEFF}", "\u{1B}[31m"] {
            let entered = try FieldText.entered(text, as: .text, called: "x")
            #expect(Array(entered.utf8) == Array(text.utf8))
        }
        let refusal = #expect(throws: FieldTextRefusal.self) {
            try FieldText.entered("a\0", as: .text, called: "The value of 'room'")
        }
        #expect(refusal?.sentence == "The value of 'room' has a NUL character; leave it out.")
    }

    @Test("Two spellings that Unicode holds equal are two texts, also as keys of a dictionary")
    func bytes() {
        #expect("Caf\u{E9}" == "Cafe\u{301}", "as Swift sees it")
        #expect(!FieldText.isSame("Caf\u{E9}", "Cafe\u{301}"))
        #expect(Set([TextKey("Caf\u{E9}"), TextKey("Cafe\u{301}"), TextKey("Caf\u{E9}")]).count == 2)
        #expect(FieldText.kind(of: WellKnownField.barcode) == .key)
        #expect(FieldText.kind(of: WellKnownField.name) == .text)
    }
}
