import LocalAPI
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ImportTests {
    private func run(
        _ csv: String, _ options: [String] = []
    ) async throws -> (outcome: MusterProcess.Outcome, written: [String]) {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = try directory.write(csv, to: "rows.csv")
        let service = FakeService()
        let outcome = try await withDaemon(service) { socket in
            try await MusterProcess.run(["import", "0190", file] + options, socket: socket)
        }
        return (outcome, service.written.withLock { $0 })
    }

    @Test("Columns fill the fields of their names; empty cells make none")
    func plain() async throws {
        let (outcome, written) = try await run(
            "\u{FEFF}Barcode,name,Qty,Owner\r\n1,\"Sofa, \"\"red\"\"\nand old\",2,\r\n\r\n2,known,,Ann\r\n3,same,,")
        #expect(outcome.error == "")
        #expect(outcome.exitCode == 0)
        #expect(outcome.output == "3 rows: 1 added, 1 updated, 1 unchanged, 0 not taken.\n")
        #expect(
            written == [
                "batch key=- barcode=1,name=Sofa, \"red\"\nand old,quantity=2 | Owner=Ann,barcode=2,name=known "
                    + "| barcode=3,name=same"
            ])
    }

    @Test("A bad row is named by its line, the rest goes in, and the exit code is 65")
    func badRows() async throws {
        let (outcome, written) = try await run(
            "code,name\n1,good\n2,refused\n3\n,nokey\n\"4\"x,quote\n\"5\n\",multi\n6,\"open", ["--key", "code"])
        #expect(outcome.exitCode == 65)
        #expect(written == ["batch key=code code=1,name=good | code=2,name=refused | code=5\n,name=multi"])
        #expect(outcome.output == "7 rows: 2 added, 0 updated, 0 unchanged, 5 not taken.\n")
        #expect(
            outcome.error.split(separator: "\n") == [
                "muster: line 3: the daemon does not like it",
                "muster: line 4: it has 1 cell, the first line has 2",
                "muster: line 5: the key column \"code\" is empty",
                "muster: line 6: text follows a closing quote; double a quote that belongs to the text",
                "muster: line 9: a quote is never closed, so that everything to the end of the file belongs to it",
            ])
    }

    @Test("Columns can be given other fields, and the key follows")
    func renamed() async throws {
        let (outcome, written) = try await run(
            "no,what\n7,Sofa\n", ["--key", "no", "--field", "no=barcode", "--field", "what=name", "--json"])
        #expect(written == ["batch key=barcode barcode=7,name=Sofa"])
        try expectSnapshot(outcome.output, "json-import")
    }

    @Test("A column of notes becomes remarks, and importing it again does not repeat them")
    func remarks() async throws {
        let (outcome, written) = try await run("name,notes\nSofa,left leg scratched\nsame,torn\nLamp,\n,alone\n")
        #expect(outcome.exitCode == 65)
        #expect(outcome.error == "muster: line 5: it has nothing but a remark\n")
        #expect(
            written == [
                "batch key=- name=Sofa | name=same | name=Lamp",
                "note \(FakeService.itemIDs[0]) left leg scratched", "note \(FakeService.itemIDs[1]) torn",
            ])
        let (_, again) = try await run("name,notes\nfirst,left leg scratched\n")
        #expect(again == ["batch key=- name=first"])
    }

    @Test("Many rows go in batches")
    func batches() async throws {
        let rows = (1...2500).map { "\($0),thing \($0)" }.joined(separator: "\n")
        let (outcome, written) = try await run("barcode,name\n" + rows)
        #expect(outcome.output == "2,500 rows: 2,500 added, 0 updated, 0 unchanged, 0 not taken.\n")
        #expect(written.count == 3)
    }

    static let refusals: [(String, [String], String)] = [
        ("", [], "empty"), ("a,a\n1,2\n", [], "both fill"), ("a\n1\n", ["--key", "b"], "no column"),
        ("a,\n1,2\n", [], "has no name"),
    ]

    @Test("A file that cannot be imported at all is refused with the reason", arguments: refusals)
    func refused(csv: String, options: [String], reason: String) async throws {
        let (outcome, written) = try await run(csv, options)
        #expect(outcome.exitCode == 65)
        #expect(outcome.error.contains(reason))
        #expect(written.isEmpty)
    }
}
