import CRDT
import HTTPCoding
import Testing

private struct Shown: Codable, Equatable {
    @Nullable var pending: String?
    @Nullable var published: String?
}

@Suite("Values in HTTP")
struct CodingTests {
    static let times: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_722_508_200_125, "2024-08-01T10:30:00.125Z"),
        (4_102_444_799_999, "2099-12-31T23:59:59.999Z"),
    ]

    @Test("Times are RFC 3339 in UTC with milliseconds", arguments: times)
    func writesAndReads(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
        #expect(Timestamp(text)?.milliseconds == milliseconds)
    }

    @Test("Every moment can be written, and what is written can be read")
    func anyTime() throws {
        var generator = SeededGenerator(seed: 1)
        let random = (0..<1_000).map { _ in Int64.random(in: .min ... .max, using: &generator) }
        for milliseconds in [.min, .min + 1, -62_167_219_200_001, 253_402_300_800_000, .max] + random {
            let text = Timestamp(milliseconds: milliseconds).description
            #expect(Timestamp(text)?.description == text, "\(milliseconds)")
        }
        #expect(Timestamp(milliseconds: .max).description == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: .min).description == "0000-01-01T00:00:00.000Z")
    }

    @Test(
        "Other forms of a time are refused",
        arguments: ["", "2024-08-01", "2024-08-01T10:30:00Z", "2024-13-01T10:30:00.125Z", "2024-08-01T10:30:00.12xZ"])
    func badTimes(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test("Unknown values are null in JSON and may be absent when read")
    func nullable() throws {
        let state = Shown(pending: nil, published: "completed")
        #expect(String(decoding: try JSON.encode(state), as: UTF8.self) == #"{"pending":null,"published":"completed"}"#)
        #expect(try JSON.decode(Shown.self, from: Array("{}".utf8)) == Shown(pending: nil, published: nil))
    }

    @Test("Any text survives percent-encoding", arguments: ["", "a b", "ü/€?#%&=", "\u{1F6CB}", "..", "a+b"])
    func percentCoding(text: String) {
        #expect(PercentCoding.decode(PercentCoding.encode(text)) == text)
    }

    @Test("Broken percent-encoding is refused", arguments: ["%", "%4", "%zz", "%ff"])
    func badPercentCoding(text: String) {
        #expect(PercentCoding.decode(text) == nil)
    }
}
