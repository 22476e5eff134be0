import ArgumentParser
import Testing

@testable import muster

@Suite("Lists as people and scripts want them")
struct ListingTests {
    private struct Thing {
        var name: String
        var count: Int
        var remark = ""
    }

    private static var columns: [ListColumn<Thing>] {
        [
            ListColumn(.text("NAME")) { Cell($0.name) },
            ListColumn(.number("COUNT").optional) { .count($0.count) },
            ListColumn(.text("REMARK").optional) { Cell($0.remark) },
            ListColumn(.whole("FIRST LETTER").optional, isUsual: false) { Cell(String($0.name.prefix(1))) },
        ]
    }
    private static let things = [
        Thing(name: "bench", count: 1_200), Thing(name: "Armchair", count: 9), Thing(name: "", count: 10),
        Thing(name: "armchair", count: 9),
    ]

    private static func table(_ arguments: String...) throws -> Table {
        try ListOptions.parse(arguments).table(of: things, columns: columns)
    }

    private static func exact(_ arguments: String...) throws -> [String] {
        try ListOptions.parse(arguments).table(of: things, columns: columns).rows.map(Table.exactLine)
    }

    @Test("Columns are those that were asked for, in their order")
    func chosen() throws {
        #expect(try Self.exact("--columns", "count, first-letter") == ["1200\tb", "9\tA", "10\t", "9\ta"])
        #expect(try Self.table().columns.map(\.title) == ["NAME", "COUNT", "REMARK"])
        #expect(try Self.table("--wide").columns.map(\.title) == ["NAME", "COUNT", "REMARK", "FIRST LETTER"])
    }

    @Test("Numbers are ordered by size and names by letters; what says nothing stands last, also the other way round")
    func sorted() throws {
        #expect(try Self.exact("--columns", "count", "--sort", "count") == ["9", "9", "10", "1200"])
        #expect(try Self.exact("--columns", "count", "--sort", "-count") == ["1200", "10", "9", "9"])
        #expect(try Self.exact("--columns", "name", "--sort", "name") == ["Armchair", "armchair", "bench", ""])
        #expect(try Self.exact("--columns", "name", "--sort", "-name") == ["bench", "armchair", "Armchair", ""])
    }

    @Test("A column that there is not is refused with the nearest one and all", arguments: ["--columns", "--sort"])
    func unknown(option: String) throws {
        let error = #expect(throws: (any Error).self) { try Self.table(option, "cuont") }
        #expect(
            ListOptions.message(for: try #require(error)).contains("did you mean 'count'? All: name, count, remark"))
    }

    @Test(
        "A document has neither columns nor another order",
        arguments: [["--sort", "name"], ["--columns", "name"], ["--wide"]])
    func documents(options: [String]) throws {
        let list = try ListOptions.parse(options)
        #expect(throws: ValidationError.self) { try GlobalOptions.parse(["--json"]).check(list) }
        try GlobalOptions.parse([]).check(list)
        try GlobalOptions.parse(["--json"]).check(try ListOptions.parse([]))
    }

    @Test("Who asks for JSON in an order is not given it in another", arguments: OutputTests.lists)
    func unsortedDocument(command: [String]) async throws {
        let scene = try await Scene()
        let refused = try await withDaemon(scene.answers) { socket in
            try await MusterProcess.run(command + ["--json", "--sort", "name"], socket: socket)
        }
        #expect(refused.exitCode == 64 && refused.output.isEmpty)
        #expect(refused.error.hasPrefix("muster: --columns, --sort and --wide are for tables"))
    }

    @Test("Where there is no room a column without a word gives way first, silently; the next is told of")
    func leftOut() throws {
        var table = Table([
            .text("NAME"), .number("COUNT").optional, .text("REMARK").optional, .whole("STATE").optional,
        ])
        table.add("a name of a good many letters", "12", "", "ready")
        #expect(table.lines(width: 60)[0] == "NAME                           COUNT  REMARK  STATE")
        #expect(
            table.lines(width: 44) == [
                "NAME                           COUNT  STATE", "a name of a good many letters     12  ready",
            ])
        #expect(table.lines(width: 30)[1] == "a name of a goo…     12  ready")
        let narrow = table.lines(width: 24)
        #expect(narrow[1] == "a name of a good…     12")
        #expect(narrow.dropFirst(2).joined(separator: " ") == "No room for STATE: a wider terminal shows them.")
        let list = try Self.table("--wide").lines(width: 24).joined(separator: " ")
        #expect(list.hasSuffix("No room for FIRST LETTER: --wide or --columns shows them."))
    }

    @Test("What is piped is whole and without titles, and no value breaks a row")
    func piped() {
        var table = Table([.text("NAME"), .number("COUNT")])
        table.add(
            "two\tlines\nof a name that is longer than any terminal is wide, by far, and told in full", .count(12_000))
        let terminal = Terminal(isInteractive: false, isPiped: true, width: 20, height: 24, style: .plain)
        #expect(
            table.lines(on: terminal) == [
                "two lines of a name that is longer than any terminal is wide, by far, and told in full\t12000"
            ])
    }
}
