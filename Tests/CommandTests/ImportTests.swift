import Foundation
import LocalAPI
import Storage
import Testing

@testable import Node

@Suite(.timeLimit(.minutes(2)))
struct ImportTests {
    /// What people are told, and what the job holds then.
    private struct Imported {
        let outcome: MusterProcess.Outcome
        let items: [ItemView]

        func fields(_ names: String...) -> Set<[String?]> {
            Set(items.map { item in names.map { item.fields[$0] } })
        }
    }

    /// Imports into a job of its own, one text after the other.
    private func run(_ texts: String..., options: [String] = []) async throws -> Imported {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let scene = try await Scene()
        _ = try await scene.service.createJob(CreateJobRequest(name: "Rows", id: "Rows"))
        var outcomes: [MusterProcess.Outcome] = []
        for text in texts {
            let file = try directory.write(text, to: "rows.csv")
            outcomes.append(
                try await withDaemon(scene.answers) { socket in
                    try await MusterProcess.run(["import", "Rows", file] + options, socket: socket)
                })
        }
        return Imported(outcome: try #require(outcomes.last), items: try await scene.items("Rows"))
    }

    @Test("Columns fill the fields of their names; empty cells make none")
    func plain() async throws {
        let imported = try await run(
            "\u{FEFF}Barcode,name,Qty,Owner\r\n1,\"Sofa, \"\"red\"\"\nand old\",2,\r\n\r\n2,Lamp,,Ann\r\n3,Rug,,")
        #expect(imported.outcome.error == "")
        #expect(imported.outcome.exitCode == 0)
        #expect(imported.outcome.output == "3 rows: 3 added, 0 updated, 0 unchanged, 0 not taken.\n")
        let expected: Set<[String: String]> = [
            ["barcode": "1", "name": "Sofa, \"red\"\nand old", "quantity": "2"],
            ["barcode": "2", "name": "Lamp", "Owner": "Ann"], ["barcode": "3", "name": "Rug"],
        ]
        #expect(Set(imported.items.map(\.fields)) == expected)
    }

    @Test("With a key a file that comes again adds what is new, and updates what has changed")
    func again() async throws {
        let imported = try await run(
            "code,name\n1,Sofa\n2,Lamp\n", "code,name\n1,Sofa\n2,Desk lamp\n3,Rug\n", options: ["--key", "code"])
        #expect(imported.outcome.output == "3 rows: 1 added, 1 updated, 1 unchanged, 0 not taken.\n")
        #expect(imported.fields("code", "name") == [["1", "Sofa"], ["2", "Desk lamp"], ["3", "Rug"]])
    }

    @Test("A bad row is named by its line, the rest goes in, and the exit code is 65")
    func badRows() async throws {
        let imported = try await run(
            "code,name\n1,good\n\"a\tb\",refused\n3\n,nokey\n\"4\"x,quote\n5,\"multi\n\"\n6,\"open",
            options: ["--key", "code"])
        #expect(imported.outcome.exitCode == 65)
        #expect(imported.fields("code", "name") == [["1", "good"], ["5", "multi\n"]])
        #expect(imported.outcome.output == "7 rows: 2 added, 0 updated, 0 unchanged, 5 not taken.\n")
        #expect(
            imported.outcome.error.split(separator: "\n") == [
                "muster: line 3: The value of 'code' has a control character inside, such as a tab or a line end; "
                    + "leave it out.",
                "muster: line 4: it has 1 cell, the first line has 2: put quotes around a cell with the separator in it",
                "muster: line 5: the key column \"code\" is empty",
                "muster: line 6: text follows a closing quote; double a quote that belongs to the text",
                "muster: line 9: a quote is never closed, so that everything to the end of the file belongs to it: close it, or "
                    + "write two for one",
            ])
    }

    @Test("Columns can be given other fields, and the key follows")
    func renamed() async throws {
        let imported = try await run(
            "no,what\n7,Sofa\n",
            options: ["--key", "no", "--field", "no=barcode", "--field", "what=name", "--json"])
        #expect(imported.items.map(\.fields) == [["barcode": "7", "name": "Sofa"]])
        try expectSnapshot(imported.outcome.output, "json-import")
    }

    @Test("A column of notes becomes remarks, and importing it again does not repeat them")
    func remarks() async throws {
        let rows = "name,notes\nSofa,left leg scratched\nDesk,torn\nLamp,\n,alone\n"
        let imported = try await run(rows, rows + "Sofa,no cushions\n", options: ["--key", "name"])
        #expect(imported.outcome.exitCode == 65)
        #expect(imported.outcome.error == "muster: line 5: the key column \"name\" is empty\n")
        let notes = Dictionary(uniqueKeysWithValues: imported.items.map { ($0.fields["name"], $0.notes) })
        #expect(notes == ["Sofa": ["left leg scratched", "no cushions"], "Desk": ["torn"], "Lamp": []])
        let keyless = try await run("name,notes\n,alone\n")
        #expect(keyless.outcome.error == "muster: line 2: it has nothing but a remark\n")
    }

    @Test("Many rows go in batches")
    func batches() async throws {
        let rows = (1...2500).map { "\($0),thing \($0)" }.joined(separator: "\n")
        let imported = try await run("barcode,name\n" + rows)
        #expect(imported.outcome.output == "2,500 rows: 2,500 added, 0 updated, 0 unchanged, 0 not taken.\n")
        #expect(imported.items.count == 2_500)
    }

    @Test("A disk that gets full on the way: what went in is told, and that file with its key adds the rest")
    func stopped() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let scene = try await Scene()
        _ = try await scene.service.createJob(CreateJobRequest(name: "Rows", id: "Rows"))
        let lines = (1...2500).map { "\($0),thing\n" }
        // A pipe, so that the disk gets full between two batches.
        let pipe = directory.path + "/rows.csv"
        try #require(mkfifo(pipe, 0o600) == 0)
        let writer = try #require(FileHandle(forUpdatingAtPath: pipe))
        try writer.write(contentsOf: Data(("barcode,name\n" + lines[..<1500].joined()).utf8))
        let outcome = try await withDaemon(scene.answers) { socket in
            async let outcome = MusterProcess.run(["import", "Rows", pipe, "--key", "barcode"], socket: socket)
            while try await scene.items("Rows").count < 1_000 { try await Task.sleep(for: .milliseconds(5)) }
            scene.anna.store.setDiskFull(true)
            try writer.write(contentsOf: Data(lines[1500...].joined().utf8))
            try writer.close()
            return try await outcome
        }
        scene.anna.store.setDiskFull(false)
        #expect(outcome.exitCode == 75)
        #expect(outcome.output == "1,000 rows: 1,000 added, 0 updated, 0 unchanged, 0 not taken.\n")
        #expect(
            outcome.error == """
                muster: line 1002 and what follows: The disk is full; free some space, nothing was changed.
                muster: The rows above line 1002 are in the job; the same command goes on from there, and adds nothing \
                twice.

                """)
        #expect(try await scene.items("Rows").count == 1_000)

        let file = try directory.write("barcode,name\n" + lines.joined(), to: "again.csv")
        let again = try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(["import", "Rows", file, "--key", "barcode"], socket: socket)
        }
        #expect(again.output == "2,500 rows: 1,500 added, 0 updated, 1,000 unchanged, 0 not taken.\n")
    }

    static let refusals: [(String, [String], String)] = [
        ("", [], "empty"), ("PK\u{3}\u{4}x", [], "save the sheet as CSV"), ("a,a\n1,2\n", [], "both fill"),
        ("a,a\n1,2\n", [], "in the file's first line"), ("name,Name\n1,2\n", [], "--field \"Name=OTHER\""),
        ("name,\"open\nA,B\n", [], "a quote is never closed"), ("name;\"open\nA;B\n", [], "a quote is never closed"),
        ("a\n1\n", ["--key", "b"], "no column \"b\": its columns are \"a\"."),
        ("Bar Code,name\n1,2\n", ["--key", "barcode"], "no column \"barcode\"; did you mean \"Bar Code\"?"),
        ("a,\n1,2\n", [], "has no name"), ("barcode,quantiy\n1,2\n", [], "--field \"quantiy=quantity\""),
        ("Menge,name\n1,2\n", ["--field", "Menge=quantiy"], "did you mean 'quantity'"),
    ]

    @Test("A file that cannot be imported at all is refused with the reason", arguments: refusals)
    func refused(csv: String, options: [String], reason: String) async throws {
        let imported = try await run(csv, options: options)
        #expect(imported.outcome.exitCode == 65)
        #expect(imported.outcome.error.contains(reason))
        #expect(imported.items.isEmpty)
    }

    @Test("What is no file is named", arguments: ["/tmp", "/tmp/nothing-here.csv"])
    func noFile(path: String) async throws {
        let outcome = try await MusterProcess.run(["import", "Rows", path, "--key", "a"])
        #expect(outcome.exitCode == 65 && outcome.error.hasPrefix("muster: Cannot read \(path) ("))
        #expect(outcome.error.hasSuffix("): check the file's name.\n"))
    }
}
