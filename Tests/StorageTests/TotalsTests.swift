import CRDT
import GRDB
import Inventory
import Simulation
import Testing

@testable import Storage

/// What a job adds up to is kept up with each change; here it is added up anew beside it.
@Suite("The totals of a job", .timeLimit(.minutes(2)))
struct TotalsTests {
    /// From the items alone, without a table.
    private static func addedUp(_ store: Store) async throws -> JobTotals {
        var volume = 0
        var owners: [[UInt8]: Int] = [:]
        for item in try await store.items(job: Store.job, limit: .max, withRemoved: false) {
            let number = { (name: FieldName) in item.state.value(of: name).flatMap { Int($0) } }
            volume += (number("volumeCubicFeet") ?? 0) * (number("quantity") ?? 1) * 1_000
            let barcode = Array((item.state.value(of: "barcode") ?? "").utf8)
            if !barcode.isEmpty { owners[barcode, default: 0] += 1 }
        }
        return JobTotals(
            cubicFeet: Thousandths(volume), duplicateBarcodes: owners.values.count { $0 > 1 })
    }

    private static func kept(_ store: Store) async throws -> JobTotals? {
        try await store.read(of: Store.job) { try $0.keptTotals().totals }
    }

    private static let fields: [(FieldName, [String])] = [
        ("barcode", ["A", "B", "C", "Café", "Cafe\u{301}", "", "D"]),
        ("quantity", ["1", "2", "7", "many", ""]),
        ("volumeCubicFeet", ["3", "10", "", "big"]),
        ("name", ["x", "y"]),
    ]

    private static func edits(
        _ count: Int, _ generator: inout SeededGenerator, items: UInt128 = 12
    ) -> [Edit] {
        (0..<count).map { _ in
            let item = ItemID(UInt128.random(in: 1...items, using: &generator))
            if Int.random(in: 0..<12, using: &generator) == 0 { return .remove(item: item) }
            let (field, values) = fields[Int.random(in: 0..<fields.count, using: &generator)]
            let value = values[Int.random(in: 0..<values.count, using: &generator)]
            return .put(item: item, fields: [Edit.FieldValue(field: field, value: value)])
        }
    }

    @Test(
        "They are kept up through edits, removals, and what two laptops did at one time",
        arguments: 1...8 as ClosedRange<UInt64>)
    func keptUp(seed: UInt64) async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("anna"), try await place.open("bert"))
        var generator = SeededGenerator(seed: seed)
        for round in 0..<60 as Range<UInt64> {
            for store in [anna, bert] {
                _ = try await store.edit(
                    job: Store.job, createsJob: true, nowMilliseconds: 1_000 + 10 * round,
                    Self.edits(Int.random(in: 1...3, using: &generator), &generator))
                #expect(try await Self.kept(store) == Self.addedUp(store), "seed \(seed), round \(round)")
            }
            guard round % 5 == 4 else { continue }
            _ = try await anna.send(to: bert)
            _ = try await bert.send(to: anna)
            for store in [anna, bert] {
                #expect(try await store.totals(of: Store.job) == Self.addedUp(store), "seed \(seed), round \(round)")
                try await store.tidy()
                #expect(try await Self.kept(store) == Self.addedUp(store))
            }
        }
    }

    @Test("After a large batch shared barcodes are counted when somebody asks, and kept again when the job rests")
    func largeBatch() async throws {
        let place = try Place()
        let store = try await place.open("anna")
        var generator = SeededGenerator(seed: 5)
        _ = try await store.edit(
            job: Store.job, createsJob: true, nowMilliseconds: 1_000, Self.edits(3_000, &generator, items: 900))
        #expect(try await Self.kept(store) == nil)
        let totals = try await store.totals(of: Store.job)
        #expect(try await totals == Self.addedUp(store) && totals.duplicateBarcodes > 0)
        try await store.tidy()
        #expect(try await Self.kept(store) == totals)
    }

    @Test("A note of a job that has changed since it was made is not taken for its totals, and the next one is")
    func outdatedNote() async throws {
        let place = try Place()
        let store = try await place.open("anna")
        var generator = SeededGenerator(seed: 6)
        let edits = Self.edits(3_000, &generator, items: 900)
        _ = try await store.edit(job: Store.job, createsJob: true, nowMilliseconds: 1_000, edits)
        let outdated = try #require(try await store.restNote(of: Store.job))
        try await store.put(1, "barcode", "new", now: 2_000)
        try await store.keep([outdated])
        #expect(try await Self.kept(store) == nil)
        #expect(try await store.totals(of: Store.job) == Self.addedUp(store))
        try await store.tidy()
        #expect(try await Self.kept(store) == Self.addedUp(store))
        #expect(try await store.restNote(of: Store.job) == nil, "nothing is left to be written down")
        let digest = try await store.digest(of: Store.job)
        try store.close()
        #expect(try await place.open("anna").knownDigest(of: Store.job) == digest)
    }

    @Test("A text that many items had as their barcode does not make edits slow: it is counted when somebody asks")
    func noBarcode() async throws {
        let place = try Place()
        let store = try await place.open("anna")
        for item in 1...200 as ClosedRange<UInt128> { try await store.put(item, "barcode", "none") }
        for item in 1...199 as ClosedRange<UInt128> { try await store.put(item, "barcode", "", now: 2_000) }
        try await store.tidy()
        #expect(try await Self.kept(store)?.duplicateBarcodes == 0)
        try await store.put(300, "barcode", "none", now: 3_000)
        #expect(try await Self.kept(store) == nil, "200 items may have it, of which 199 have not")
        #expect(try await store.totals(of: Store.job).duplicateBarcodes == 1)
    }

    @Test("A volume that no column takes is added up when somebody asks, and no edit fails for it")
    func tooMuch() async throws {
        let place = try Place()
        let store = try await place.open("anna")
        try await store.put(1, "volumeCubicFeet", "999999999")
        let all = ItemCounts.largestVolume + 1
        try await store.write { db in
            try db.execute(sql: "UPDATE job SET cubicFeet = ?", arguments: [all])
        }
        try await store.put(2, "volumeCubicFeet", "999999999", now: 2_000)
        #expect(try await Self.kept(store) == nil)
        #expect(try await store.totals(of: Store.job).cubicFeet == Thousandths(2 * 999_999_999_000))
        var counts = ItemCounts()
        for _ in 0..<4_000_000 { counts.addVolume(ItemVolume.largest) }
        #expect(counts.cubicFeet == 4_000_000 * ItemVolume.largest.rawValue)
        counts.addVolume(ItemVolume.largest)
        #expect(counts.cubicFeet == nil)
        counts.addVolume(.zero, instead: ItemVolume.largest)
        #expect(counts.cubicFeet == nil, "what is not known stays so")
    }

    @Test("Who made no digest has none to show, and it is that of the inventory when somebody has")
    func knownDigest() async throws {
        let place = try Place()
        let store = try await place.open("anna")
        try await store.put(1, "name", "Sofa")
        #expect(try await store.knownDigest(of: Store.job) == nil)
        let made = try await store.digest(of: Store.job)
        #expect(try await store.knownDigest(of: Store.job) == made)
        try await store.put(1, "name", "Bed", now: 2_000)
        #expect(try await store.knownDigest(of: Store.job) == nil)
    }
}

extension Store {
    /// As the daemon does when the job has been quiet for a while.
    fileprivate func tidy() async throws {
        if let note = try await restNote(of: Store.job) { try await keep([note]) }
    }
}
