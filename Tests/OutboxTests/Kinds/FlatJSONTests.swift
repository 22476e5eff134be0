import Outbox
import Testing

@Suite("JSON objects of strings")
struct FlatJSONTests {
    @Test(
        "What is written is read, and written in one way",
        arguments: [
            FlatJSON(), ["b": "2", "a": "1"], ["": ""], ["quote": "\"\\/\u{8}\u{c}\n\r\t\u{1}\u{7f}"], ["é": "Grüße 🚚"],
        ])
    func roundTrip(object: FlatJSON) {
        #expect(FlatJSON(parsing: object.bytes) == object)
    }

    @Test("Keys are written in order")
    func order() {
        let object: FlatJSON = ["state": "completed", "a": "\n"]
        #expect(object.text == #"{"a":"\n","state":"completed"}"#)
    }

    @Test("Spaces and escapes of other writers are read")
    func otherWriters() {
        let text = " { \"a\" : \"\\u0041\\ud83d\\ude9a\\/\" ,\n\"b\":\"\" } "
        #expect(FlatJSON(parsing: Array(text.utf8)) == ["a": "A🚚/", "b": ""])
    }

    @Test(
        "Anything else is nothing",
        arguments: [
            "", "{", "}", "{}x", "[]", "null", #"{"a"}"#, #"{"a":1}"#, #"{"a":{}}"#, #"{"a":"b",}"#, #"{"a":"b"#,
            #"{"a":"\x"}"#, #"{"a":"\ud83d"}"#, #"{"a":"\ude9a"}"#, #"{"a":"\u00g0"}"#, "{\"a\":\"\n\"}", #"{a:"b"}"#,
        ])
    func malformed(text: String) {
        #expect(FlatJSON(parsing: Array(text.utf8)) == nil)
    }

    @Test("Bytes that are no UTF-8 are nothing")
    func notUnicode() {
        #expect(FlatJSON(parsing: Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8)) == nil)
    }
}
