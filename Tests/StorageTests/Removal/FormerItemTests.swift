import CRDT
import GRDB
import Inventory
import Simulation
import Testing

@testable import Storage

@Suite("What items of a removed job were called", .timeLimit(.minutes(1)))
struct FormerItemTests {
    private let items = Set((1...900 as ClosedRange<UInt128>).map { ItemID($0) })

    @Test("It is known from the first moment, while all of it is freed in steps, through a crash, and afterwards")
    func steps() async throws {
        let place = try Place()
        var store = try await place.open()
        for item in 1...900 as ClosedRange<UInt128> { try await store.put(item, "name", "thing \(item)") }
        let edits = [Edit.remove(item: ItemID(7))]
        _ = try await store.edit(job: Store.job, requires: .known, nowMilliseconds: 1_500, edits)
        let before = try await store.labels(of: items, in: Store.job)
        #expect(before.count == 900 && before[ItemID(7)] == "thing 7")
        _ = try await store.removeJob(Store.job, now: .known(2_000))
        var steps = 0
        repeat {
            #expect(try await store.labels(of: items, in: Store.job) == before, "after \(steps) steps")
            steps += 1
            // As after a crash: whatever is not in the tables is lost.
            try store.close()
            store = try await place.open()
        } while try await store.freeStep()
        #expect(steps > 4)
        #expect(try await store.rowCounts()["item"] == 1, "only the job's own")
        #expect(try await store.labels(of: items, in: Store.job) == before)
    }

    @Test("A name is cut to what people know an item by; a barcode stands for none, and one without either has none")
    func labels() async throws {
        let store = try Crew(1).stores[0]
        let long = String(repeating: "é", count: 200)
        try await store.put(1, "name", long)
        try await store.put(2, "barcode", "4711")
        try await store.put(3, "room", "Den")
        _ = try await store.removeJob(Store.job, now: .known(2_000))
        try await store.freeRemoved()
        let labels = try await store.labels(of: items, in: Store.job)
        #expect(labels == [ItemID(1): String(long.prefix(80)), ItemID(2): "4711"])
    }

    @Test(
        "A second word of a job's end, which knew more, leaves the names known, be the first one freed or not",
        arguments: [true, false])
    func secondRemoval(isFreed: Bool) async throws {
        let crew = try Crew(3)
        let (anna, bert, carl) = (crew.stores[0], crew.stores[1], crew.stores[2])
        try await crew.put(anna, 1, "Sofa")
        try await crew.exchange()
        try await crew.put(carl, 2, "Lamp")
        try await crew.send(carl, bert)
        _ = try await crew.end(anna)
        if isFreed { #expect(try await crew.free(anna) > 0) }
        let first = try #require(try await anna.removal(of: Store.job))
        _ = try await crew.end(bert)
        try await crew.put(carl, 1, "Red sofa")
        try await crew.send(bert, anna)
        #expect(try await anna.removal(of: Store.job) != first, "it has merged the other one")
        #expect(try await anna.labels(of: items, in: Store.job) == [ItemID(1): "Sofa"])
        try await crew.exchange()
        for store in crew.stores {
            _ = try await crew.free(store)
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(1)])
            #expect(try await store.labels(of: [ItemID(1)], in: Store.job)[ItemID(1)]?.hasSuffix("ofa") == true)
        }
        #expect(try await anna.integrityProblems() == [])
    }

    @Test(
        "Names of the last hundred removed jobs stay, whether each was freed at once or all together; a number is never used twice",
        arguments: [true, false])
    func bound(isFreedAtOnce: Bool) async throws {
        let store = try Crew(1).stores[0]
        #expect(Store.jobsWithNames == 100)
        let kept = 5
        let jobs = (0..<UInt128(kept + 3)).map { JobID(ItemID(100 + $0)) }
        for job in jobs {
            let edits = (1...500 as ClosedRange<UInt128>).map {
                Edit.put(item: ItemID($0), fields: [Edit.FieldValue(field: "name", value: "of \(job)")])
            }
            _ = try await store.edit(job: job, createsJob: true, nowMilliseconds: 1_000, edits)
        }
        // The last one made goes first: what counts is when a job was removed.
        for job in jobs.reversed() {
            _ = try await store.removeJob(job, now: .known(2_000))
            if isFreedAtOnce { while try await store.freeStep(keepingNamesOf: kept) {} }
        }
        while try await store.freeStep(keepingNamesOf: kept) {}
        for job in jobs.prefix(kept) {
            #expect(try await store.labels(of: items, in: job).count == 500)
        }
        for job in jobs.dropFirst(kept) { #expect(try await store.labels(of: items, in: job) == [:]) }
        let rows = try await store.read { db in
            try ["formerJob", "formerItem"].map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? 0 }
        }
        #expect(rows == [kept, 500 * kept])
        let isHigher = try await store.read { db in
            try JobRows.nextNumber(in: db) > Int64.fetchOne(db, sql: "SELECT max(job) FROM formerJob") ?? .max
        }
        #expect(isHigher)
    }

    @Test("Items of a job that lives are called what they are called there")
    func living() async throws {
        let store = try Crew(1).stores[0]
        try await store.put(1, "name", "Sofa")
        #expect(try await store.labels(of: items, in: Store.job) == [ItemID(1): "Sofa"])
        #expect(try await store.labels(of: [], in: Store.job) == [:])
    }
}
