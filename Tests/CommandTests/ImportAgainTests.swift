import Foundation
import LocalAPI
import Testing

@testable import Node

/// Values that are doubted, files of every kind, and the same file once more.
@Suite(.timeLimit(.minutes(2)))
struct ImportAgainTests {
    private let scene: ImportScene

    init() async throws { scene = try await ImportScene() }

    private func run(_ file: String, _ options: String...) async throws -> MusterProcess.Outcome {
        try await scene.run(file: file, options)
    }

    private func write(_ text: String, to name: String = "rows.csv") throws -> String {
        try scene.directory.write(text, to: name)
    }

    @Test("Without a key the same file adds nothing twice, packed or not; what was removed since stays so, and is told")
    func again() async throws {
        let file = try write("name,notes\nSofa,left leg scratched\nLamp,\nRug,\n")
        #expect(try await run(file).output == "3 rows: 3 added, 0 updated, 0 unchanged, 0 not taken.\n")
        let ids = try await scene.items().map(\.id)
        _ = try await scene.scene.service.removeItem(ids[1], job: "Rows")
        try gzip(file)
        let again = try await run(file + ".gz")
        #expect(again.output == "3 rows: 0 added, 0 updated, 2 unchanged, 0 not taken.\n" && again.exitCode == 0)
        #expect(again.error.contains("2 rows of this very file are in the job already."))
        #expect(again.error.contains("1 row is not added again"))
        #expect(try await scene.names() == ["Rug", "Sofa"])
        #expect(try await scene.items().map(\.notes).contains(["left leg scratched"]))
    }

    @Test("The rows of a file lie in its order, each with eight digits of its own")
    func order() async throws {
        let file = try write("name\n" + (1...300).map { "thing \($0)\n" }.joined())
        #expect(try await run(file).exitCode == 0)
        let items = try await scene.items()
        #expect(items.map { $0.fields["name"] } == (1...300).map { "thing \($0)" })
        #expect(Set(items.map { $0.id.prefix(8) }).count == 300)
    }

    @Test("Another file with barcodes that the job has is not taken, unless it has a key or somebody means it")
    func doubles() async throws {
        #expect(try await run(write("barcode,name\n1,Sofa\n2,Lamp\n"), "--key", "barcode").exitCode == 0)
        let file = try write("Code,name\n1,Sofa\n 2 ,Desk lamp\n3,Rug\n", to: "more.csv")
        let refused = try await run(file, "--field", "Code=barcode")
        #expect(refused.exitCode == 65 && refused.output.isEmpty)
        #expect(refused.error.contains("Of the file's 3 barcodes the job has 2 already. With --key \"Code\""))
        #expect(refused.error.contains("--yes"))
        #expect(try await scene.names() == ["Lamp", "Sofa"])
        let updated = try await run(file, "--field", "Code=barcode", "--key", "Code")
        #expect(updated.output == "3 rows: 1 added, 1 updated, 1 unchanged, 0 not taken.\n")
        let doubled = try await run(file, "--field", "Code=barcode", "--yes")
        #expect(doubled.output == "3 rows: 3 added, 0 updated, 0 unchanged, 0 not taken.\n")
        #expect(try await scene.names() == ["Desk lamp", "Desk lamp", "Rug", "Rug", "Sofa", "Sofa"])
        // What is of this very file is nobody else's.
        _ = try await run(write("barcode,name\n7,Box\n", to: "own.csv"))
        #expect(try await run(write("barcode,name\n7,Box\n", to: "own.csv")).exitCode == 0)
    }

    @Test("A restored row is no double of its file's own")
    func restored() async throws {
        let file = try write("barcode,name\n1,Sofa\n")
        #expect(try await run(file).exitCode == 0)
        let id = try #require(try await scene.items().first?.id)
        _ = try await scene.scene.service.removeItem(id, job: "Rows")
        _ = try await scene.scene.service.restoreItem(id, job: "Rows")
        let again = try await run(file)
        #expect(again.exitCode == 0 && again.error.contains("1 row is not added again"))
        #expect(try await scene.names() == ["Sofa"])
    }

    @Test("A row with a doubted value is named, the rest goes in; with --force all do")
    func doubted() async throws {
        let file = try write("name,quantity,category\nSofa,abc,\nLamp,2,\nRug,1,sofa-3-set\n")
        let outcome = try await run(file)
        #expect(outcome.exitCode == 65)
        let lines = outcome.error.split(separator: "\n")
        #expect(lines[0].hasPrefix("muster: line 2: 'quantity' is a whole number from 0 to 999999, not 'abc'"))
        #expect(
            lines[1].hasPrefix(
                "muster: line 4: The catalogue has no category 'sofa-3-set'; did you mean 'sofa-3-seat'?"))
        #expect(lines.last?.contains("as a file of its own, or with --key") == true)
        #expect(try await scene.names() == ["Lamp"])
        let forced = try await run(file, "--force")
        #expect(forced.output == "3 rows: 2 added, 0 updated, 1 unchanged, 0 not taken.\n" && forced.exitCode == 0)
        let odd = try await run(write("name,quantiy\nBox,1\n", to: "odd.csv"), "--force")
        #expect(odd.exitCode == 0)
    }

    @Test("Of many bad rows twenty are named, and the others counted")
    func many() async throws {
        let rows = (1...60).map { "thing \($0),a\($0)\n" }.joined()
        let outcome = try await run(write("name,quantity\n\(rows)good,1\n"))
        #expect(outcome.output == "61 rows: 1 added, 0 updated, 0 unchanged, 60 not taken.\n")
        let lines = outcome.error.split(separator: "\n")
        #expect(lines.count == 22 && lines[19].hasPrefix("muster: line 21: "))
        #expect(lines[20] == "muster: 40 more rows could not be taken.")
    }

    @Test("Tabs stand between the cells of a .tsv, packed or not, and gzip is known by its first bytes")
    func kinds() async throws {
        let tabbed = try write("name\troom\nSofa, red\t\"Living\troom\"\n", to: "rows.tsv")
        #expect(try await run(tabbed).exitCode == 0)
        #expect(try await scene.items().map(\.fields) == [["name": "Sofa, red", "room": "Living\troom"]])
        try gzip(tabbed)
        #expect(try await run(tabbed + ".gz").output.contains("1 unchanged"))
        let packed = try write("name\nLamp\n", to: "lamp")
        try gzip(packed)
        try FileManager.default.moveItem(atPath: packed + ".gz", toPath: scene.directory.path + "/lamp.csv")
        #expect(try await run(scene.directory.path + "/lamp.csv").output.contains("1 added"))
        // Two that were put one behind the other are one text.
        let first = try write("name\nRug\n", to: "first"), second = try write("Vase\n", to: "second")
        try gzip(first)
        try gzip(second)
        let both = try Data(contentsOf: URL(filePath: first + ".gz")) + Data(contentsOf: URL(filePath: second + ".gz"))
        try both.write(to: URL(filePath: scene.directory.path + "/both.csv.gz"))
        #expect(try await run(scene.directory.path + "/both.csv.gz").output.contains("2 added"))
        #expect(try await scene.names() == ["Lamp", "Rug", "Sofa, red", "Vase"])
    }

    @Test("A packed file that is cut short, damaged or none of an inventory is refused, and nothing of it is taken")
    func damaged() async throws {
        let text = "name,code\n" + (1...5_000).map { "thing \($0),\($0 * 7_919 % 100_003)\n" }.joined()
        let file = try write(text)
        try gzip(file)
        let whole = try Data(contentsOf: URL(filePath: file + ".gz"))
        var flipped = whole
        flipped[whole.count / 2] ^= 0x55
        let zeros = try write("name\n" + String(repeating: "0", count: 80 << 20), to: "zeros.csv")
        try gzip(zeros)
        let bomb = try Data(contentsOf: URL(filePath: zeros + ".gz"))
        let cases = [
            (whole.prefix(whole.count / 2), "ends too early"), (whole.dropLast(4), "ends too early"),
            (flipped, "damaged"), (bomb, "100 times its size"), (whole + Data("rest".utf8), "damaged"),
        ]
        for (bytes, reason) in cases {
            let name = scene.directory.path + "/case.csv.gz"
            try Data(bytes).write(to: URL(filePath: name))
            let outcome = try await run(name)
            #expect(outcome.exitCode == 65 && outcome.error.contains(reason), "\(outcome.error)")
        }
        #expect(try await scene.names().isEmpty)
    }

    @Test("What was exported gives the same items back, by their barcodes here and in another job; ids are no fields")
    func exported() async throws {
        let rows = "barcode,name,notes,Serial\n1,Sofa,\"left leg\nscratched\",A;1\n2,\"Lamp, old\",,\n"
        #expect(try await run(write(rows)).exitCode == 0)
        _ = try await scene.muster(["item", "remove", "Rows", "1"])
        #expect(try await scene.muster(["item", "restore", "Rows", "1"]).exitCode == 0)
        let csv = try await scene.muster(["job", "export", "Rows", "--format", "csv"]).output
        #expect(csv.hasPrefix("id,Serial,barcode,name,replaces,notes\r\n"))
        let before = try await scene.items()
        let file = try write(csv, to: "export.csv")
        let again = try await run(file, "--key", "barcode")
        #expect(again.output == "2 rows: 0 added, 0 updated, 2 unchanged, 0 not taken.\n" && again.exitCode == 0)
        let refused = try await run(file, "--key", "id")
        #expect(refused.exitCode == 65 && refused.error.contains("take another as the key, such as barcode"))
        #expect(try await scene.items() == before)
        _ = try await scene.scene.service.createJob(CreateJobRequest(name: "Other", id: "Other"))
        #expect(try await scene.muster(["import", "Other", file]).exitCode == 0)
        let other = try await scene.scene.items("Other")
        #expect(Set(other.map(\.notes)) == [["left leg", "scratched"], []])
        let fields = before.map { $0.fields.filter { $0.key != "replaces" } }
        #expect(Set(other.map(\.fields)) == Set(fields) && fields.count == 2)
        // Somebody else's own numbers are kept.
        #expect(try await run(write("id,name\n4711,Box\n", to: "own.csv")).exitCode == 0)
        #expect(try await scene.items().contains { $0.fields == ["id": "4711", "name": "Box"] })
    }

    @Test("A remark that cannot be taken is its row's fault, and stops no import")
    func badRemark() async throws {
        let long = String(repeating: "x", count: (64 << 10) + 1)
        let outcome = try await run(write("name,notes\nSofa,a\0b\nRug,\(long)\nLamp,fine\n"))
        #expect(outcome.exitCode == 65 && outcome.output == "3 rows: 1 added, 0 updated, 0 unchanged, 2 not taken.\n")
        #expect(
            outcome.error.contains("line 2: The remark has a NUL") && outcome.error.contains("line 3: its remark has"))
        #expect(try await scene.names() == ["Lamp"])
    }

    private func gzip(_ path: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/gzip")
        process.arguments = ["-kf", path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}
