import CRDT
import GRDB
import Inventory
import Simulation
import Storage
import Testing

@Suite("The log tells what its authors saw, and what has become of what they wrote", .timeLimit(.minutes(1)))
struct TimelineTests {
    private func lines(_ store: Store) async throws -> [String] {
        try await store.timeline(of: Store.job, item: ItemID(1)).rest().flatMap(\.settings).map { setting in
            "\(setting.before ?? "nothing") → \(setting.value), \(setting.standing.map { "\($0)" } ?? "unknown")"
        }
    }

    @Test("Of two who wrote apart each saw what stood before, and the one that lost says so until somebody settles it")
    func concurrent() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await crew.put(anna, 1, "0")
        try await crew.exchange()
        // Anna's clock is behind bert's: what she writes last stands above it in time.
        try await crew.put(anna, 1, "EARLY")
        try await crew.put(bert, 1, "LATE")
        try await crew.exchange()
        for store in crew.stores {
            #expect(
                try await lines(store) == ["nothing → 0, replaced", "0 → EARLY, lost", "0 → LATE, stands"])
        }
        try await crew.put(anna, 1, "BOTH")
        try await crew.exchange()
        for store in crew.stores {
            #expect(
                try await lines(store) == [
                    "nothing → 0, replaced", "0 → EARLY, replaced", "0 → LATE, replaced", "LATE → BOTH, stands",
                ])
        }
    }

    @Test("Who wrote again without having seen the other's value saw the own one")
    func ownEarlierWrite() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await crew.put(anna, 1, "0")
        try await crew.exchange()
        try await crew.put(anna, 1, "A1")
        try await crew.put(bert, 1, "B1")
        try await crew.put(anna, 1, "A2")
        try await crew.exchange()
        #expect(
            try await lines(bert) == [
                "nothing → 0, replaced", "0 → A1, replaced", "0 → B1, lost", "A1 → A2, stands",
            ])
    }

    @Test("The same value twice is no loss")
    func equalValues() async throws {
        let crew = try Crew(2)
        try await crew.put(crew.stores[0], 1, "Hall")
        try await crew.put(crew.stores[1], 1, "Hall")
        try await crew.exchange()
        #expect(try await lines(crew.stores[0]) == ["nothing → Hall, stands", "nothing → Hall, stands"])
    }

    @Test("A log of several pages has every line, in order, whatever the sizes of the stored runs")
    func pages() async throws {
        let crew = try Crew(2)
        for round in 0..<3 {
            for (index, store) in crew.stores.enumerated() {
                let edits = (1...260).map { item in
                    Edit.put(
                        item: ItemID(UInt128(item)),
                        fields: [Edit.FieldValue(field: "room", value: "room \(round) \(index) \(item)")])
                }
                _ = try await store.edit(
                    job: Store.job, createsJob: true, nowMilliseconds: crew.tick(), edits)
            }
            try await crew.exchange()
        }
        let cursor = try await crew.stores[0].timeline(of: Store.job)
        var lines: [TimelineEntry] = []
        var pages = 0
        while let page = try await cursor.next() {
            pages += 1
            lines += page.map(\.entry)
        }
        let settings = lines.flatMap(\.settings).filter { $0.field == "room" }
        #expect(pages >= 2 && settings.count == 6 * 260 && Set(settings.map(\.value)).count == 6 * 260)
        #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.key < $1.key })
        #expect(settings.count { $0.standing == .stands } == 260)
        let other = try await crew.stores[1].timeline(of: Store.job).rest()
        #expect(other == lines)
    }

    @Test("Who reads a log while its job is removed is told so, and gets no half log for a whole one")
    func removedMeanwhile() async throws {
        let crew = try Crew(1)
        let store = crew.stores[0]
        for item in 1...1_200 { try await crew.put(store, UInt128(item), "x") }
        let cursor = try await store.timeline(of: Store.job)
        #expect(try await cursor.next() != nil)
        _ = try await crew.end(store)
        await #expect(throws: StoreError.self) { while try await cursor.next() != nil {} }
    }
}
