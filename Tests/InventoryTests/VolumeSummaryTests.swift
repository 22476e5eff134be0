import CRDT
import Testing

@testable import Inventory

/// The volume of a job, from items' fields.
struct VolumeSummaryTests {
    private func summary(_ items: [[String: String]]) -> VolumeSummary {
        var summary = VolumeSummary()
        for (index, fields) in items.enumerated() {
            summary.add(ItemID(UInt128(index + 1))) { fields[$0.text] }
        }
        return summary
    }

    @Test("The category gives the volume unless the item states its own, and the quantity multiplies it")
    func volumeOfAnItem() {
        #expect(summary([["category": "sofa-3-seat"]]).total.cubicFeet == Thousandths(50_000))
        #expect(
            summary([["category": "sofa-3-seat", "volumeCubicFeet": "48.25"]]).total.cubicFeet == Thousandths(48_250))
        let cartons = summary([["category": "carton-small", "quantity": "12"]])
        #expect(cartons.total.cubicFeet == Thousandths(18_000))
        #expect(cartons.total.pieces == Thousandths(12_000))
        #expect(cartons.total.items == 1)
    }

    @Test("Cubic metres, pounds and kilograms are exact to a thousandth")
    func units() {
        let line = summary([["volumeCubicFeet": "1000"]]).total
        #expect(line.cubicMetres == Thousandths(28_317))
        #expect(line.pounds == Thousandths(7_000_000))
        #expect(line.kilograms == Thousandths(3_175_147))
    }

    @Test("What is not a number is listed, not guessed and not lost")
    func unreadable() {
        let result = summary([
            ["category": "bench", "quantity": "two"], ["category": "bench", "volumeCubicFeet": "1,5"],
            ["category": "bench", "quantity": "-1"], ["category": "bench", "quantity": " "],
        ])
        #expect(result.unreadable.map(\.value) == ["two", "1,5", "-1"])
        #expect(result.unreadable.map(\.field) == ["quantity", "volumeCubicFeet", "quantity"])
        #expect(result.total.cubicFeet == Thousandths(20_000))
        #expect(result.unknownVolume.isEmpty)
    }

    @Test("Items of unknown volume are listed and count as nothing")
    func unknown() {
        let result = summary([["category": "harpsichord"], ["name": "thing"], ["category": "bench"]])
        #expect(result.unknownVolume == [ItemID(1), ItemID(2)])
        #expect(result.total.items == 3)
        #expect(result.total.cubicFeet == Thousandths(5_000))
    }

    @Test("A volume too large to be one is left out and named, and the rest is added up")
    func tooLarge() {
        let result = summary([
            ["quantity": "999999999", "volumeCubicFeet": "999999999"], ["category": "bench"],
            ["quantity": "999999999.999", "volumeCubicFeet": "1"], ["quantity": "2", "volumeCubicFeet": "500000000"],
        ])
        #expect(result.tooLarge == [ItemID(1), ItemID(4)])
        #expect(result.total.items == 4)
        #expect(result.total.cubicFeet == Thousandths(1_000_000_004_999))
        #expect(result.rooms.map(\.line.cubicFeet) == [result.total.cubicFeet])
        #expect(result.storage?.count == 555_556)
        #expect(!result.isCapped)
    }

    @Test("Sums that reach the greatest number say so")
    func capped() {
        var line = VolumeSummary.Line()
        for _ in 1...20 { line.add(pieces: Thousandths(.max / 20), cubicFeet: .zero) }
        #expect(!line.isCapped)
        line.add(pieces: Thousandths(8), cubicFeet: .zero)
        #expect(line.isCapped)
        var large = VolumeSummary.Line()
        large.add(pieces: Thousandths(1), cubicFeet: Thousandths(.max / 7 + 1))
        #expect(large.isCapped && large.kilograms > .zero)
    }

    @Test("Every volume has a storage unit that holds it", arguments: ThousandthsTests.extremes)
    func storageOfAnything(raw: Int) {
        guard let fit = StorageFit(for: Thousandths(raw)) else {
            #expect(raw == 0)
            return
        }
        #expect(fit.count >= 1 && fit.usableCubicFeet >= Thousandths(raw))
        #expect(fit.cubicFeet >= fit.usableCubicFeet)
    }

    @Test("Rooms and categories are sorted, with what has none under the empty name")
    func groups() {
        let result = summary([
            ["category": "bench", "room": "Porch"], ["category": "bench", "room": " Attic "], ["category": "fan"],
        ])
        #expect(result.rooms.map(\.name) == ["", "Attic", "Porch"])
        #expect(result.categories.map(\.name) == ["bench", "fan"])
        #expect(result.categories.map(\.line.items) == [2, 1])
    }

    @Test("The order of the items changes nothing", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func orderIndependent(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let items: [(ItemID, [String: String])] = (1...200).map { index in
            let category = Catalogue.categories[index % Catalogue.categories.count].id
            let room = index % 2 == 0 ? "Caf\u{E9}" : "Cafe\u{301}"
            return (ItemID(UInt128(index)), ["category": category, "room": room, "quantity": "\(index % 7).\(index)"])
        }
        func total(_ items: [(ItemID, [String: String])]) -> VolumeSummary {
            var summary = VolumeSummary()
            for (id, fields) in items { summary.add(id) { fields[$0.text] } }
            return summary
        }
        let first = total(items)
        let second = total(items.shuffled(using: &generator))
        #expect(first.total == second.total)
        #expect(first.rooms == second.rooms)
        #expect(first.rooms.map { Array($0.name.utf8) } == second.rooms.map { Array($0.name.utf8) })
        #expect(first.categories == second.categories)
    }

    @Test("The smallest storage unit whose usable part holds everything is named")
    func storageUnit() {
        #expect(StorageFit(for: .zero) == nil)
        // 5 × 5 × 8 ft holds 150 of its 200 cubic feet.
        #expect(StorageFit(for: Thousandths(150_000))?.unit.name == "5 × 5 × 8 ft")
        #expect(StorageFit(for: Thousandths(150_001))?.unit.name == "5 × 10 × 8 ft")
        let large = StorageFit(for: Thousandths(1_800_001))
        #expect(large?.unit.name == "10 × 30 × 8 ft")
        #expect(large?.count == 2)
        #expect(large?.usableCubicFeet == Thousandths(3_600_000))
    }
}
