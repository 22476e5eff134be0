import Testing

@testable import muster

struct CSVParserTests {
    private func parse(_ bytes: [UInt8], piece: Int) -> [CSVParser.Record] {
        var parser = CSVParser()
        var records: [CSVParser.Record] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            records += parser.feed(bytes[start..<min(start + piece, bytes.count)])
        }
        return records + parser.finish()
    }

    private func row(_ line: Int, _ cells: String...) -> CSVParser.Record {
        CSVParser.Record(line: line, content: .success(cells))
    }

    @Test(
        "Quotes, newlines in quotes, CRLF and a byte order mark are understood, wherever pieces end",
        arguments: [1, 2, 3, 5, 1000])
    func understands(piece: Int) {
        let text = "\u{FEFF}a,b\r\n\"x\r\ny\",\"q\"\"q\"\r\n\n , z\n\"\",\n5\" pipe,r\rr\nlast"
        let expected = [
            row(1, "a", "b"), row(2, "x\r\ny", "q\"q"), row(5, " ", " z"), row(6, "", ""), row(7, "5\" pipe", "r\rr"),
            row(8, "last"),
        ]
        #expect(parse(Array(text.utf8), piece: piece) == expected)
    }

    @Test("A record that is wrong does not touch the next", arguments: [1, 4, 1000])
    func faults(piece: Int) {
        var bytes = Array("\"a\"b,\"c\nok,1\n".utf8)
        bytes += [0xFF, UInt8(ascii: ","), UInt8(ascii: "x"), UInt8(ascii: "\n")]
        bytes += Array("fine\n\"open\nto the end".utf8)
        let expected = [
            CSVParser.Record(line: 1, content: .failure(.textAfterQuote)), row(2, "ok", "1"),
            CSVParser.Record(line: 3, content: .failure(.notUTF8)), row(4, "fine"),
            CSVParser.Record(line: 5, content: .failure(.unclosedQuote)),
        ]
        #expect(parse(bytes, piece: piece) == expected)
    }
}
