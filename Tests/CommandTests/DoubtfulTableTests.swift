import Foundation
import LocalAPI
import Testing

@testable import Node

/// Tables that are hardly meant as they are: nothing of them goes in without a word.
@Suite(.timeLimit(.minutes(2)))
struct DoubtfulTableTests {
    private let directory: TemporaryDirectory
    private let scene: Scene

    init() async throws {
        directory = try TemporaryDirectory()
        scene = try await Scene()
        _ = try await scene.service.createJob(CreateJobRequest(name: "Rows", id: "Rows"))
    }

    private func run(_ text: String, _ options: String..., to name: String = "rows.csv") async throws
        -> MusterProcess.Outcome
    {
        let file = try directory.write(text, to: name)
        return try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(["import", "Rows", file] + options, socket: socket)
        }
    }

    private func rooms() async throws -> [String: String] {
        let items = try await scene.items("Rows")
        return Dictionary(items.map { ($0.fields["name"] ?? "", $0.fields["room"] ?? "") }) { first, _ in first }
    }

    @Test(
        "What stands between the cells is told by the first line, whatever the file is called",
        arguments: [
            "barcode;name;room\n41;\"X; or so\";Hall\n42;Y;1,5\n",
            "barcode\tname\troom\n41\tX; or so\tHall\n42\tY\t1,5\n",
        ])
    func separators(text: String) async throws {
        let done = try await run(text)
        #expect(done.exitCode == 0 && done.output == "2 rows: 2 added, 0 updated, 0 unchanged, 0 not taken.\n")
        #expect(try await rooms() == ["X; or so": "Hall", "Y": "1,5"])
    }

    @Test("A comma stays what it is where the other marks are no more than it, or stand within quotation marks")
    func commas() async throws {
        #expect(try await run("name,room;floor\nSofa,Hall\n").exitCode == 0)
        #expect(try await run("name,\"a;b;c\"\nLamp,Den\n", to: "more.csv").exitCode == 0)
        #expect(try await scene.items("Rows").map { $0.fields["name"] } == ["Sofa", "Lamp"])
    }

    @Test(
        "A first line that names no field that people know is no heading",
        arguments: ["2000000000091,Sofa,Hall\n2000000000092,Chair,Hall\n", "root:x:0:0\n", "once upon a time"])
    func headless(text: String) async throws {
        let refused = try await run(text)
        #expect(refused.exitCode == 65 && refused.output.isEmpty)
        #expect(refused.error.contains("The first line has to name the columns") && refused.error.contains("--force"))
        #expect(try await scene.items("Rows").isEmpty)
    }

    @Test("Fields of one's own are taken where one column is known, or where somebody says that they are meant")
    func ownFields() async throws {
        #expect(try await run("Werk,Jahr\nPferde,1911\n", "--field", "Werk=name").exitCode == 0)
        #expect(try await run("Werk,Jahr\nKühe,1912\n", "--force", to: "more.csv").exitCode == 0)
        #expect(Set(try await scene.items("Rows").map { $0.fields["Jahr"] }) == ["1911", "1912"])
    }

    @Test("A second row of one key does not undo the first in silence; the same row twice is one")
    func keyTwice() async throws {
        let text = "barcode,name,room\n11,A,Hall\n12,B,Den\n11,C,Hall\n12,B,Den\n"
        let done = try await run(text, "--key", "barcode")
        #expect(done.exitCode == 65 && done.output == "4 rows: 2 added, 1 updated, 0 unchanged, 1 not taken.\n")
        #expect(done.error.contains("line 4: line 2 says something else of '11'"))
        #expect(try await rooms() == ["A": "Hall", "B": "Den"])
        #expect(try await run(text, "--key", "barcode", "--force").exitCode == 0)
        #expect(try await rooms() == ["C": "Hall", "B": "Den"])
    }

    @Test("A key that several items have names none of them")
    func keyOfSeveral() async throws {
        for name in ["A", "B"] {
            _ = try await scene.service.addItem(FieldsRequest(fields: ["barcode": "11", "name": name]), job: "Rows")
        }
        let done = try await run("barcode,name,room\n11,Z,Cellar\n12,Y,Den\n", "--key", "barcode")
        #expect(done.exitCode == 65 && done.error.contains("line 2: several items have the barcode '11'"))
        #expect(try await rooms() == ["A": "", "B": "", "Y": "Den"])
    }
}
