import Inventory
import Testing

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
        let text = "\u{FEFF}a,b\r\n\"x\r\ny\",\"q\"\"q\"\r\n\n , z\n\"\",\n5\" pipe,\"r\rr\"\nlast"
        let expected = [
            row(1, "a", "b"), row(2, "x\r\ny", "q\"q"), row(5, " ", " z"), row(6, "", ""), row(7, "5\" pipe", "r\rr"),
            row(9, "last"),
        ]
        #expect(parse(Array(text.utf8), piece: piece) == expected)
    }

    /// RFC 4180 section 2, by its numbers, and what files of the world add to it.
    static let cases: [(String, [[String]])] = [
        ("aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n", [["aaa", "bbb", "ccc"], ["zzz", "yyy", "xxx"]]),
        ("aaa,bbb,ccc\r\nzzz,yyy,xxx", [["aaa", "bbb", "ccc"], ["zzz", "yyy", "xxx"]]),
        ("a, b ,\r\n", [["a", " b ", ""]]),
        ("\"aaa\",\"bbb\",ccc\r\n", [["aaa", "bbb", "ccc"]]),
        ("\"aaa\",\"b \r\nbb\",\"c,c\"\r\nz,y,x", [["aaa", "b \r\nbb", "c,c"], ["z", "y", "x"]]),
        ("\"a\"\"aa\",\"\"\"\"\r\n", [["a\"aa", "\""]]),
        // A combining mark makes one Character with the quote, comma or line end before it.
        ("\"a\"\"\u{301}b\",c\n", [["a\"\u{301}b", "c"]]),
        ("\"\u{301}a\",c\n", [["\u{301}a", "c"]]),
        ("a,\u{301}b\n\u{301}c,d\r\n\u{301}e,f\r", [["a", "\u{301}b"], ["\u{301}c", "d"], ["\u{301}e", "f"]]),
        ("a,b\rc,d\r\re,f", [["a", "b"], ["c", "d"], ["e", "f"]]),
        ("\u{FEFF}\"a\"\rb", [["a"], ["b"]]),
        ("\"a\rb\r\nc\nd\"\n", [["a\rb\r\nc\nd"]]),
        ("\"\"", [[""]]), ("", []), ("\r\n\n\r", []), (",", [["", ""]]), ("\u{FEFF}", []),
        ("a\0b,\u{202E}c\n", [["a\0b", "\u{202E}c"]]),
    ]

    @Test("Each case of RFC 4180, and of files that go beyond it", arguments: cases, [1, 2, 1000])
    func rfc4180(example: (text: String, rows: [[String]]), piece: Int) throws {
        let records = parse(Array(example.text.utf8), piece: piece)
        let rows = try records.map { try $0.content.get().map { Array($0.utf8) } }
        #expect(rows == example.rows.map { $0.map { Array($0.utf8) } })
    }

    @Test("Lines are counted however they end, in quotes too", arguments: [1, 1000])
    func lines(piece: Int) {
        let records = parse(Array("a\rb\r\n\"c\r\rd\r\n\"\n\ne\n\"open".utf8), piece: piece)
        #expect(records.map(\.line) == [1, 2, 3, 8, 9])
        #expect(records.last?.content == .failure(.unclosedQuote))
    }

    @Test("A file that ends within a byte order mark is not UTF-8", arguments: [1, 2])
    func halfMark(count: Int) {
        let records = parse(Array([0xEF, 0xBB].prefix(count)), piece: 1)
        #expect(records == [CSVParser.Record(line: 1, content: .failure(.notUTF8))])
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

    @Test("Tabs stand between the cells where they are said to")
    func tabs() {
        var parser = CSVParser(separator: UInt8(ascii: "\t"))
        let records = parser.feed("a,1\tb\r\n\"x\ty\"\t\"q\"\"q\"\n".utf8) + parser.finish()
        #expect(records == [row(1, "a,1", "b"), row(2, "x\ty", "q\"q")])
    }

    @Test("A record of more than 1 MiB is read over, quoted or not, and the next is read")
    func tooLong() {
        let long = String(repeating: "x", count: 1 << 20)
        for record in [long + "x", "\"\(long)\n\"\"\(long)\",y", String(repeating: ",", count: 1 << 21)] {
            let records = parse(Array("a,b\n\(record)\n1,2\n".utf8), piece: 1 << 16)
            #expect(records.map(\.content) == [.success(["a", "b"]), .failure(.tooLong), .success(["1", "2"])])
        }
        // With its line end it has 1 MiB.
        let whole = String(long.dropLast())
        #expect((parse(Array("\(whole)\n".utf8), piece: 1 << 16) == [row(1, whole)]) as Bool)
        let unclosed = parse(Array("a\n\"\(long)\(long)".utf8), piece: 1 << 16)
        #expect(unclosed.last?.content == .failure(.unclosedQuote))
    }
}
