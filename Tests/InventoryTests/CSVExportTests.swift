import CRDT
import Testing

@testable import Inventory

@Suite("The export as a table")
struct CSVExportTests {
    @Test(
        "A cell is quoted by its bytes, whatever marks follow a quote, a comma or a line end",
        arguments: [
            ("a\"\u{301}b", "\"a\"\"\u{301}b\""), ("\"\u{20D7}", "\"\"\"\u{20D7}\""), ("a,\u{301}b", "\"a,\u{301}b\""),
            ("a\r\nb", "\"a\r\nb\""), ("a\rb", "\"a\rb\""), ("plain", "plain"), ("", ""), ("\"\"", "\"\"\"\"\"\""),
        ])
    func cells(text: String, expected: String) {
        var bytes: [UInt8] = []
        bytes.append(csv: text.utf8)
        #expect(bytes == Array(expected.utf8))
    }
}
