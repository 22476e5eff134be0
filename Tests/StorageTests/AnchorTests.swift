import Authorship
import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("Ordering ids in the store", .timeLimit(.minutes(1)))
struct AnchorTests {
    private let item = ItemID(UInt128(42))
    private let now: UInt64 = 1_800_000_000_000
    private let hour: UInt64 = 3_600_000

    private func set(_ store: Store, _ value: String, at time: UInt64) async throws {
        let edit = Edit.put(item: item, fields: [Edit.FieldValue(field: "room", value: value)])
        _ = try await store.edit(job: Store.job, createsJob: true, nowMilliseconds: time, [edit])
    }

    @Test(
        "A change carries the highest ordering id that its author held, and clocks do not reorder what the server ordered"
    )
    func anchors() async throws {
        let place = try Place()
        let store = try await place.open()
        try await set(store, "hall", at: now + hour)
        var head = JournalHead.empty
        for number in 1...2 as ClosedRange<UInt64> {
            let order = CRDT.Operation.set(field: "office", value: String(number), replaces: [])
            let bytes = ChangeCodec.encode(
                Change(
                    item: item, stamp: Stamp(milliseconds: now + 7 * hour, counter: 0), operations: [order]))
            let segment = try TestAuthor(server: 99).segment(bytes, after: head, of: Store.job)
            head = segment.head
            guard try await store.ingest(segment, job: Store.job, now: .anyTime).result == .stored else {
                Issue.record("the channel's entry \(number) was not stored")
                return
            }
            try await set(store, "room \(number)", at: now)
        }
        let keys = try await store.timeline(of: Store.job, item: item).rest().map(\.key)
        #expect(keys.map(\.anchor) == [0, 1, 1, 2, 2])
        #expect(keys.map { $0.replica == .channel } == [false, true, false, true, false])
    }

    @Test("What follows something seen is anchored no lower, also by who has yet to hear from the office")
    func seenAnchor() async throws {
        let place = try Place()
        let store = try await place.open()
        try await set(store, "hall", at: now)
        let set = CRDT.Operation.set(field: "room", value: "den", replaces: [])
        let bytes = ChangeCodec.encode(
            Change(item: item, stamp: Stamp(milliseconds: now + 1, counter: 0), anchor: 7, operations: [set]))
        let segment = try TestAuthor(5).segment(bytes, of: Store.job)
        guard try await store.ingest(segment, job: Store.job, now: .anyTime).result == .stored else {
            Issue.record("what the colleague wrote was not stored")
            return
        }
        try await self.set(store, "attic", at: now + 2)
        let keys = try await store.timeline(of: Store.job, item: item).rest().map(\.key)
        #expect(keys.map(\.anchor) == [0, 7, 7])
        #expect(keys.map { $0.replica == TestAuthor(5).replica } == [false, true, false])
    }
}
