import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("Changes from the future are applied and listed", .timeLimit(.minutes(1)))
struct FutureChangesTests {
    private static let now: UInt64 = 1_800_000_000_000
    private static let day: UInt64 = 86_400_000
    private let sofa = ItemID(UInt128(42))
    private let lamp = ItemID(UInt128(43))

    private func set(_ store: Store, _ item: ItemID, _ value: String, at time: UInt64) async throws {
        let edit = Edit.put(item: item, fields: [Edit.FieldValue(field: "room", value: value)])
        _ = try await store.edit(
            job: Store.job, createsJob: true, nowMilliseconds: time, isSynchronised: true, [edit])
    }

    private func pass(from store: Store, to other: Store) async throws {
        let run = try #require(
            try await store.segment(of: store.identity.replica, job: Store.job, from: 1, maximumBytes: 1 << 20))
        _ = try await other.ingest(
            run, job: Store.job, now: ReceiveTime(milliseconds: Self.now, isSynchronised: true))
    }

    private func room(_ store: Store, _ item: ItemID) async throws -> String? {
        try await store.item(item, job: Store.job)?.value(of: "room")
    }

    private func listed(_ store: Store, at time: UInt64) async throws -> [FutureChange] {
        try await store.futureChanges(of: Store.job, nowMilliseconds: time)
    }

    @Test("Who knows the time shows them at once, lists whose they are, and moves no clock")
    func listing() async throws {
        let place = try Place()
        let (fast, store) = (try await place.open(), try await place.open("b"))
        try await set(store, sofa, "hall", at: Self.now)
        try await set(fast, sofa, "attic", at: Self.now + Self.day)
        try await set(fast, lamp, "den", at: Self.now + Self.day + 1)
        try await pass(from: fast, to: store)
        #expect(try await room(store, sofa) == "attic")
        let changes = try await listed(store, at: Self.now).filter { $0.item != .job }
        #expect(changes.map(\.item) == [sofa, lamp])
        #expect(changes.allSatisfy { $0.author == fast.identity.replica && !$0.isOnTop && $0.job == Store.job })
        #expect(try await store.futureChanges(nowMilliseconds: Self.now).count == listed(store, at: Self.now).count)
        // Their day comes.
        #expect(try await listed(store, at: Self.now + Self.day).isEmpty)
        // What it beat without having seen it is in the conflict list.
        #expect(try await store.conflicts(job: Store.job).map(\.id) == [sofa])
        let chair = ItemID(UInt128(44))
        try await set(store, chair, "loft", at: Self.now + 5)
        let stamps = try await store.timeline(of: Store.job, item: chair).rest().map(\.key.stamp.milliseconds)
        #expect(stamps == [Self.now + 5])
    }

    @Test("They yield to the next edit of who has seen them, which is nobody's wrong clock")
    func onTop() async throws {
        let place = try Place()
        let (fast, store, third) = (try await place.open(), try await place.open("b"), try await place.open("c"))
        try await set(fast, sofa, "attic", at: Self.now + Self.day)
        try await pass(from: fast, to: store)
        try await set(store, sofa, "hall", at: Self.now)
        try await set(store, sofa, "porch", at: Self.now + 1)
        for other in [fast, third] { try await pass(from: store, to: other) }
        try await pass(from: fast, to: third)
        for each in [fast, store, third] {
            #expect(try await room(each, sofa) == "porch")
            #expect(try await each.conflicts(job: Store.job).isEmpty)
            let changes = try await listed(each, at: Self.now + 2).filter { $0.item == sofa }
            let wrong = changes.filter { !$0.isOnTop }
            #expect(changes.count == 3 && wrong.map(\.author) == [fast.identity.replica])
        }
    }

    @Test("Jobs without such changes cost no reading, and a laptop whose clock is behind lists what it cannot know")
    func nothingListed() async throws {
        let place = try Place()
        let store = try await place.open()
        try await set(store, sofa, "hall", at: Self.now)
        #expect(try await listed(store, at: Self.now).isEmpty)
        #expect(try await listed(store, at: Self.now - HybridLogicalClock.tolerance).isEmpty)
        #expect(try await !listed(store, at: Self.now - HybridLogicalClock.tolerance - 1).isEmpty)
    }
}
