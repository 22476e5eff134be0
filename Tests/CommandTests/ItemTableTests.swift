import HTTPCoding
import LocalAPI
import Testing

@testable import muster

@Suite("The table of a job's items")
struct ItemTableTests {
    private static let terminal = Terminal(isInteractive: false, width: 80, height: 24, style: .plain)

    private static func row(_ number: Int, barcode: String?, name: String = "Lamp") throws -> ItemRow {
        let code = barcode.map { "\"barcode\": \"\($0)\", " } ?? ""
        let text = """
            {"id": "01a20ba8-0000-7294-9e8c-0102030a\(1_000 + number)", "fields": {\(code)"name": "\(name)", "stain": "red"}, \
            "notes": ["dusty"], "updatedAt": "2026-01-01T00:00:00Z", "updatedBy": "0f", "updatedByName": null}
            """
        return try JSON.decode(ItemRow.self, from: Array(text.utf8))
    }

    private static func rows(_ numbers: Range<Int>) throws -> [ItemRow] {
        try numbers.map { try row($0, barcode: "B\($0)") }
    }

    @Test("Of a few items nothing is shown until all are known, and then what tells them apart")
    func few() throws {
        var table = ItemTable<ItemRow>(isPart: false, on: Self.terminal)
        #expect(try table.add([Self.row(1, barcode: "B1", name: "A clock that strikes every quarter")]).isEmpty)
        #expect(try table.add([Self.row(2, barcode: "B1")]).isEmpty)
        let lines = table.finish()
        #expect(
            lines == [
                "ID      BARCODE  NAME                                ROOM  QTY  CONDITION  NOTES",
                "0a1001  B1       A clock that strikes every quarter                            1",
                "0a1002  B1       Lamp                                                          1",
            ])
        #expect(table.finish().isEmpty, "once")
    }

    @Test("Of many the first are shown while the rest has yet to come, and all lines stand under one head")
    func many() throws {
        var table = ItemTable<ItemRow>(isPart: false, on: Self.terminal)
        #expect(try table.add(Self.rows(0..<ShortIDs.sample)).isEmpty)
        let first = try table.add(Self.rows(ShortIDs.sample..<ShortIDs.sample + 1))
        #expect(first.count == ShortIDs.sample + 2)
        #expect(first[0] == "BARCODE  NAME  ROOM  QTY  CONDITION  NOTES")
        #expect(first[1] == "B0       Lamp                            1")
        let rest = try table.add([
            Self.row(7_000, barcode: "B7000", name: "Grandfather clock"),
            Self.row(7_001, barcode: "B\\u001B[2J", name: "\\u007Fdel"),
        ])
        #expect(
            rest == [
                "B7000    Gra…                            1",
                "B\u{FFFD}[2J    \u{FFFD}del                            1",
            ])
        #expect(table.finish().isEmpty)
    }

    @Test("An item whose barcode comes too late to be its own is named by its id")
    func lateBarcode() throws {
        var table = ItemTable<ItemRow>(isPart: false, on: Self.terminal)
        _ = try table.add(Self.rows(0..<ShortIDs.sample + 1))
        let rest = try table.add([
            Self.row(8_000, barcode: "B5"), Self.row(8_001, barcode: nil), Self.row(8_002, barcode: "B8002"),
        ])
        #expect(
            rest.map { $0.prefix { $0 != " " } } == ["02030a9000", "02030a9001", "B8002"])
    }
}
