import HTTPCoding
import LocalAPI
import Testing

@testable import muster

/// What people decide by: no value of it is cut, and what they are told to type is taken.
@Suite
struct DecisionTextTests {
    private let item = "0190f5fe-9c41-7a3e-8f10-5b1e0c9d2a01"
    private let garage = "Garage, behind the winter tyres, on the left, where the ladder stands 10"

    private func written(_ value: String, by name: String?) -> WrittenValue {
        WrittenValue(
            value: value, at: Timestamp(milliseconds: 0), by: String(repeating: "2e", count: 16), byName: name)
    }

    private func terminal(_ width: Int) -> Terminal {
        Terminal(isInteractive: true, width: width, height: 24, style: .plain)
    }

    private func lines(_ edits: [ConflictingEdit], at width: Int, job: String = "Smith's van") -> [String] {
        ConflictText(ConflictReport(edits: edits, duplicateBarcodes: []), of: job, on: terminal(width)).lines
    }

    @Test(
        "Where a value does not fit there is a block, with both values whole, by whom, and the command",
        arguments: [44, 60, 80, 120, 300])
    func blocks(width: Int) {
        let edit = ConflictingEdit(
            item: item, itemName: "Sofa", field: "room", winner: written(garage, by: "bert-warehouse-thinkpad-x13"),
            losers: [written("Living room", by: "anna"), written("", by: nil)])
        let lines = lines([edit], at: width)
        let text = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(text.contains(garage) && text.contains("bert-warehouse-thinkpad-x13") && text.contains("Living room"))
        #expect(!text.contains("…"))
        for line in lines where !line.hasPrefix("  muster ") { #expect(Text.width(line) <= width, "\(line)") }
        let commands = lines.filter { $0.hasPrefix("  muster ") }
        #expect(commands.first == "  muster job conflicts \"Smith's van\" --take 9d2a01 room anna")
        #expect(lines.contains("Sofa (9d2a01), room") == (width < 200))
    }

    @Test(
        "A name that is argued about does not name the item, and an author is no choice where it is another value, too")
    func names() {
        let edit = ConflictingEdit(
            item: item, itemName: "anna", field: "name", winner: written("anna", by: "bert"),
            losers: [written("Sofa of my grandmother's", by: "anna")])
        let lines = lines([edit], at: 50)
        #expect(lines.contains("Item 9d2a01, name"))
        #expect(
            lines.contains("  muster job conflicts \"Smith's van\" --take 9d2a01 name \"Sofa of my grandmother's\""))
        let own = ConflictingEdit(
            item: ConflictingEdit.jobID, itemName: "the job itself", field: "name", winner: written("A", by: "bert"),
            losers: [written("B", by: nil)])
        let whole = self.lines([own], at: 50, job: "0190f5fe-9c41-7a3e-8f10-5b1e0c9d2a01")
        #expect(whole.contains { $0.hasSuffix(" --take job name 2e2e2e2e") && !$0.contains("0190f5fe") })
    }

    @Test("Items with one barcode are named", arguments: [30, 100])
    func duplicates(width: Int) {
        let other = "0190f5fe-b2d0-7111-a3f4-08d6b52e9003"
        let double = DuplicateBarcode(
            barcode: "2000000000238", items: [item, other], itemNames: ["テレビ 75インチ", nil])
        let text = ConflictText(
            ConflictReport(edits: [], duplicateBarcodes: [double]), of: "Smith", on: terminal(width))
        let lines = text.lines
        for line in lines { #expect(Text.width(line) <= width, "\(line)") }
        if width == 100 { #expect(lines.contains("2000000000238  テレビ 75インチ (9d2a01), an item (2e9003)")) }
        #expect(lines.joined().contains("テレビ 75インチ (9d2a01)") && lines.joined().contains("an item (2e9003)"))
    }

    @Test("Rooms that begin alike are told apart by their ends; others are cut as usual")
    func rooms() {
        let rooms = ["Garage, on the left 10", "Garage, on the left 11", "Hall", "Study on the second floor"]
        #expect(
            CutNames.toldApart(rooms, to: 14) == ["Garage…left 10", "Garage…left 11", "Hall", "Study on the …"])
        #expect(CutNames.toldApart(rooms, to: 40) == rooms)
    }
}
