import CRDT
import GRDB
import Inventory
import Simulation
import Storage
import Testing

@Suite("History is kept whole while its job lives", .timeLimit(.minutes(1)))
struct WholeHistoryTests {
    @Test("A removed item still tells what it was, what was remarked on it and who removed it, on every laptop")
    func removedItem() async throws {
        let crew = try Crew(3)
        let (anna, bert, carl) = (crew.stores[0], crew.stores[1], crew.stores[2])
        try await crew.put(anna, 1, "Television")
        try await crew.exchange()
        _ = try await bert.edit(
            job: Store.job, nowMilliseconds: crew.tick(),
            [.note(item: ItemID(1), text: "screen cracked before we came")])
        try await crew.remove(anna, 1)
        try await crew.exchange()
        for store in crew.stores {
            let state = try #require(try await store.item(ItemID(1), job: Store.job))
            #expect(state.removed?.author == anna.identity.replica)
            #expect(state.value(of: "name") == "Television")
            #expect(state.remarks.map(\.text) == ["screen cracked before we came"])
            #expect(try await store.live().isEmpty)
            let log = try await store.timeline(of: Store.job, item: ItemID(1)).rest()
            #expect(log.flatMap(\.notes) == ["screen cracked before we came"])
            #expect(log.contains { $0.isRemoval })
            #expect(try await store.exported() == anna.exported())
        }
        // A newcomer gets it all.
        let dora = try crew.join()
        try await crew.send(carl, dora)
        #expect(try await dora.item(ItemID(1), job: Store.job) == carl.item(ItemID(1), job: Store.job))
    }

    @Test("A tombstone is final in whatever order changes come, and what was written is kept", arguments: 0..<40)
    func order(seed: UInt64) async throws {
        let crew = try Crew(3, seed: seed)
        for step in 0..<25 {
            let store = crew.stores[Int.random(in: 0..<3, using: &crew.generator)]
            let item = UInt128.random(in: 1...4, using: &crew.generator)
            let isKnown = (try? await store.item(ItemID(item), job: Store.job)) ?? nil
            if isKnown != nil, crew.generator.oneIn(6) { try? await crew.remove(store, item) }
            try? await crew.put(store, item, "value \(step)")
            if crew.generator.oneIn(5) {
                try await crew.send(store, crew.stores[Int.random(in: 0..<3, using: &crew.generator)])
            }
        }
        try await crew.exchange()
        let anna = crew.stores[0]
        for store in crew.stores {
            #expect(try await store.exported() == anna.exported())
            let items = try await store.items(job: Store.job, limit: .max)
            #expect(try await items == anna.items(job: Store.job, limit: .max))
            #expect(try await store.job(Store.job).removed == items.count { $0.state.removed != nil })
            #expect(try await store.job(Store.job).conflicts == items.reduce(0) { $0 + $1.state.conflictCount })
        }
    }

    @Test("A change from the future shows at once on every laptop alike, and the next edit that has seen it wins")
    func future() async throws {
        let crew = try Crew(3)
        let (anna, bert, carl) = (crew.stores[0], crew.stores[1], crew.stores[2])
        try await crew.put(anna, 1, "Sofa")
        try await crew.exchange()
        let day: UInt64 = 86_400_000
        let liar = Edit.put(item: ItemID(1), fields: [Edit.FieldValue(field: "name", value: "from tomorrow")])
        _ = try await bert.edit(job: Store.job, nowMilliseconds: crew.now + day, isSynchronised: false, [liar])
        try await crew.put(carl, 1, "concurrent")
        let segment = try await bert.whole()
        for (store, time) in [(anna, ReceiveTime.known(crew.tick())), (carl, .anyTime)] {
            _ = try await store.ingest(segment, job: Store.job, now: time)
            #expect(try await store.item(ItemID(1), job: Store.job)?.value(of: "name") == "from tomorrow")
        }
        try await crew.exchange()
        #expect(try await anna.item(ItemID(1), job: Store.job)?["name"]?.losers.map(\.value) == ["concurrent"])
        // It has moved no clock: the next edit elsewhere has today's stamp.
        try await crew.put(anna, 2, "Lamp")
        let stamp = try #require(try await anna.item(ItemID(2), job: Store.job)?.latestStamp)
        #expect(stamp.milliseconds == crew.now)
        try await crew.put(anna, 1, "put right")
        try await crew.exchange()
        for store in crew.stores {
            #expect(try await store.item(ItemID(1), job: Store.job)?.value(of: "name") == "put right")
            #expect(try await store.job(Store.job).conflicts == 0)
        }
    }

    @Test(
        "A store of a former design is refused in one sentence, and left as it is",
        arguments: ["1", "whole history 1", "whole history 2"])
    func formerStore(design: String) async throws {
        let place = try Place()
        let store = try await place.open()
        try store.close()
        let database = try DatabaseQueue(path: place.path())
        try await database.write {
            try $0.execute(
                sql: "UPDATE grdb_migrations SET identifier = ? WHERE identifier = 'signed history 1'",
                arguments: [design])
        }
        try database.close()
        do {
            _ = try await place.open()
            Issue.record("it was opened")
        } catch let error as StoreError {
            #expect(error.code == .olderThanProgram)
            #expect(error.description.contains("move the state directory aside"))
        }
    }
}
