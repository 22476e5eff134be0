import Inventory
import LocalAPI
import Testing

@testable import Node
@testable import muster

/// Tables that are hardly meant as they are: nothing of them goes in without a word.
@Suite(.timeLimit(.minutes(2)))
struct DoubtfulTableTests {
    private let scene: ImportScene

    init() async throws { scene = try await ImportScene() }

    private func rooms() async throws -> [String: String] {
        let items = try await scene.items()
        return Dictionary(items.map { ($0.fields["name"] ?? "", $0.fields["room"] ?? "") }) { first, _ in first }
    }

    @Test(
        "What stands between the cells is told by the first line, whatever the file is called",
        arguments: [
            "barcode;name;room\n41;\"X; or so\";Hall\n42;Y;1,5\n",
            "barcode\tname\troom\n41\tX; or so\tHall\n42\tY\t1,5\n",
        ])
    func separators(text: String) async throws {
        let done = try await scene.run(text)
        #expect(done.exitCode == 0 && done.output == "2 rows: 2 added, 0 updated, 0 unchanged, 0 not taken.\n")
        #expect(try await rooms() == ["X; or so": "Hall", "Y": "1,5"])
    }

    @Test("A comma stays what it is where the other marks are no more than it, or stand within quotation marks")
    func commas() async throws {
        #expect(try await scene.run("name,room;floor\nSofa,Hall\n").exitCode == 0)
        #expect(try await scene.run("name,\"a;b;c\"\nLamp,Den\n", to: "more.csv").exitCode == 0)
        #expect(try await scene.items().map { $0.fields["name"] } == ["Sofa", "Lamp"])
    }

    @Test(
        "The first line ends where the table says so: behind a mark, empty lines, and line ends within quotation marks",
        arguments: [
            "\u{FEFF}\r\n\n\"name\";room;\"Serial\nno, as printed\"\nSofa;Hall;1,5\n",
            "\n\nname\troom\t\"Serial\nno, as printed\"\r\nSofa\tHall\t1,5\r\n",
            "\"Serial\nno; a; b; c\",name,room\n\"1,5\",Sofa,Hall\n",
        ])
    func firstLine(text: String) async throws {
        let done = try await scene.run(text)
        #expect(done.exitCode == 0 && done.output.hasPrefix("1 row: 1 added"), "\(done.error)")
        let fields = try #require(try await scene.items().first?.fields)
        #expect(
            fields.count == 3 && fields["name"] == "Sofa" && fields["room"] == "Hall")
        #expect(fields.contains { $0.key.hasPrefix("Serial no") && $0.value == "1,5" })
    }

    @Test("The first line may come in pieces; nothing is cut before it has ended")
    func pieces() throws {
        let text = Array("\u{FEFF}\n\"x,\ny\";name\n1;Sofa\n".utf8)
        for size in [1, 3, 100] {
            var parser = TableParser(separators: Array(",;\t".utf8)) { $0 == "name" }
            var records: [CSVParser.Record] = []
            for start in stride(from: 0, to: text.count, by: size) {
                records += parser.feed(Array(text[start..<min(start + size, text.count)]))
            }
            records += parser.finish()
            let expected = [(2, ["x,\ny", "name"]), (4, ["1", "Sofa"])]
            #expect(records == expected.map { CSVParser.Record(line: $0, content: .success($1)) })
        }
    }

    @Test(
        "What stands between the cells is what leaves the most names that are known, however many marks a heading has",
        arguments: [
            ("name,room,Size (L;W;H;D)\nSofa,Hall,2\n", []), ("name;room;\"a,b,c,d,e\";x,y,z\nSofa;Hall;2;\n", []),
            ("Ding;Ort (Haus, Etage, Zimmer, Ecke)\nSofa;Hall\n", ["--field", "Ding=name"]),
            ("Nummer;Ort (Haus, Etage, Zimmer, Ecke);a\nSofa;Hall;2\n", ["--key", "Nummer"]),
        ])
    func knownNames(text: String, options: [String]) async throws {
        let done = try await scene.run(file: scene.directory.write(text, to: "rows.csv"), options)
        #expect(done.exitCode == 0, "\(done.error)")
        #expect(try await scene.items().first?.fields.values.contains("Sofa") == true)
    }

    @Test(
        "Excel's own first line says what stands between the cells, and is none of the table",
        arguments: [";", ",", "\t"])
    func excel(separator: String) async throws {
        let rows = [["name", "Size; of, it"], ["Sofa", "2"]].map { row in
            row.map { "\"\($0)\"" }.joined(separator: separator)
        }
        let done = try await scene.run("sep=\(separator)\r\n" + rows.joined(separator: "\r\n"))
        #expect(done.exitCode == 0, "\(done.error)")
        #expect(try await scene.items().map(\.fields) == [["name": "Sofa", "Size; of, it": "2"]])
    }

    @Test(
        "A first line that names no field that people know is no heading",
        arguments: ["2000000000091,Sofa,Hall\n2000000000092,Chair,Hall\n", "root:x:0:0\n", "once upon a time"])
    func headless(text: String) async throws {
        let refused = try await scene.run(text)
        #expect(refused.exitCode == 65 && refused.output.isEmpty)
        #expect(refused.error.contains("The first line has to name the columns") && refused.error.contains("--force"))
        #expect(try await scene.items().isEmpty)
    }

    @Test("Fields of one's own are taken where one column is known, or where somebody says that they are meant")
    func ownFields() async throws {
        #expect(try await scene.run("Werk,Jahr\nPferde,1911\n", "--field", "Werk=name").exitCode == 0)
        #expect(try await scene.run("Werk,Jahr\nKühe,1912\n", "--force", to: "more.csv").exitCode == 0)
        #expect(try await scene.run("Werk,Jahr\nRosse,1913\n", "--key", "Werk", to: "third.csv").exitCode == 0)
        #expect(try await scene.run("Werk,Jahr\nRosse,1914\n", "--field", "Jahr=year", to: "last.csv").exitCode == 0)
        #expect(
            Set(try await scene.items().map { $0.fields["Jahr"] ?? $0.fields["year"] }) == [
                "1911", "1912", "1913", "1914",
            ])
    }

    @Test(
        "A heading that can be no field's name is told once, and nothing goes in",
        arguments: ["name,Size (W=H)", "name,\"a\u{1}b\"", "name,\(String(repeating: "x", count: 65))"])
    func headings(head: String) async throws {
        let refused = try await scene.run("\(head)\nSofa,1\nLamp,2\n")
        #expect(refused.exitCode == 65 && refused.output.isEmpty)
        #expect(
            refused.error.hasPrefix("muster: Column 2, \"")
                && refused.error.contains("is no name of a field: use 1 to 64"))
        #expect(refused.error.split(separator: "\n").count == 1)
        #expect(try await scene.items().isEmpty)
    }

    @Test("A second row of one key does not undo the first in silence; the same row twice is one")
    func keyTwice() async throws {
        let text = "barcode,name,room\n11,A,Hall\n12,B,Den\n11,C,Hall\n12,B,Den\n"
        let done = try await scene.run(text, "--key", "barcode")
        #expect(done.exitCode == 65 && done.output == "4 rows: 2 added, 0 updated, 1 unchanged, 1 not taken.\n")
        #expect(done.error.contains("line 4: line 2 says something else of '11'"))
        #expect(try await rooms() == ["A": "Hall", "B": "Den"])
        #expect(try await scene.run(text, "--key", "barcode", "--force").exitCode == 0)
        #expect(try await rooms() == ["C": "Hall", "B": "Den"])
    }

    @Test("A row that is refused is no first of its key: the good one behind it goes in")
    func refusedFirst() async throws {
        let text = "barcode,name,quantity\n11,A,abc\n11,A,1\n12,B,x\n12,B,y\n12,C,2\n12,D,2\n"
        let done = try await scene.run(text, "--key", "barcode")
        #expect(done.exitCode == 65 && done.output == "6 rows: 2 added, 0 updated, 0 unchanged, 4 not taken.\n")
        #expect(done.error.contains("line 7: line 6 says something else of '12'"))
        #expect(try await scene.names() == ["A", "C"])
    }

    @Test("White space around values makes no other row of an equal one")
    func whiteSpace() async throws {
        let done = try await scene.run(
            "barcode,name,room\n11,A,Hall\n 11 ,A ,\" Hall\t\"\n11,A,Den\n", "--key", "barcode")
        #expect(done.exitCode == 65 && done.output.hasSuffix(" 1 not taken.\n"))
        #expect(done.error.contains("line 4: line 2 says something else of '11'"))
    }

    @Test("A key that several items have names none of them")
    func keyOfSeveral() async throws {
        for name in ["A", "B"] {
            _ = try await scene.scene.service.addItem(
                FieldsRequest(fields: ["barcode": "11", "name": name]), job: "Rows")
        }
        let done = try await scene.run("barcode,name,room\n11,Z,Cellar\n12,Y,Den\n", "--key", "barcode")
        #expect(done.exitCode == 65 && done.error.contains("line 2: several items have the barcode '11'"))
        #expect(try await rooms() == ["A": "", "B": "", "Y": "Den"])
    }
}
