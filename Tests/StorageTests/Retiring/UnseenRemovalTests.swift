import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("Tombstones under work that nobody has seen", .timeLimit(.minutes(1)))
struct UnseenRemovalTests {
    private static let now: UInt64 = 1_700_000_000_000

    /// A laptop without the time that has removed something and said all that can be said of it.
    private func anna() async throws -> Store {
        var generator = SeededGenerator(seed: 1)
        let anna = try Store.openInMemory(
            place: StorePlace(machine: "m", file: "f"), hostName: "anna", generator: &generator)
        let fields = [Edit.FieldValue(field: "name", value: "chair")]
        for edit in [Edit.put(item: ItemID(1), fields: fields), .remove(item: ItemID(1))] {
            _ = try await anna.edit(
                job: Store.job, createsJob: true, nowMilliseconds: Self.now, isSynchronised: false, [edit])
        }
        for _ in 0..<10 { _ = try await retire(anna) }
        #expect(try await retire(anna) == nil)
        #expect(try await anna.tombstones() == [ItemID(1)], "its stamp may still change")
        return anna
    }

    private func retire(_ store: Store) async throws -> Commit? {
        try await store.retire(job: Store.job, now: ReceiveTime(milliseconds: Self.now, isSynchronised: false))
    }

    @Test("When a link may carry the work away, the store says which jobs waited for that")
    func exposure() async throws {
        let anna = try await anna()
        #expect(try await anna.beginExposure() == [Store.job])
        #expect(try await anna.beginExposure().isEmpty, "only once")
        #expect(try await retire(anna) != nil)
        #expect(try await anna.tombstones().isEmpty)
    }

    @Test("When the time is learned, the store says which jobs waited for that, whatever the step", arguments: [0, 5])
    func learned(seconds: Int64) async throws {
        let anna = try await anna()
        let step = ClockStep(
            milliseconds: seconds * 1_000, now: ReceiveTime(milliseconds: Self.now + 60_000, isSynchronised: true))
        #expect(try await anna.restamp(taking: { step }).map(\.job) == [Store.job])
        #expect(try await retire(anna) != nil)
        #expect(try await anna.tombstones().isEmpty)
    }
}
