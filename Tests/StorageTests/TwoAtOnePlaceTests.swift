import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("What two copies of a store wrote at one place", .timeLimit(.minutes(1)))
struct TwoAtOnePlaceTests {
    /// The journal of the copied store, and two others in which the branch that gave way was re-issued.
    private let journals = [ReplicaID(7), ReplicaID(5), ReplicaID(9)]

    private func run(in replica: ReplicaID) throws -> JournalSegment {
        let value = replica == journals[0] ? "of the original" : "of the copy"
        var change = Change(
            item: ItemID(1), stamp: Stamp(milliseconds: 1_000, counter: 0),
            operations: [.set(field: "name", value: value, replaces: [])])
        if replica != journals[0] { change.origin = journals[0] }
        let bytes = ChangeCodec.encode(change)
        return JournalSegment(
            replica: replica, first: 1, head: try JournalDigest.extend(.empty, with: bytes), bytes: bytes)
    }

    @Test("The timeline shows each once, in one order, in whatever order they came")
    func once() async throws {
        var timelines: [[TimelineEntry]] = []
        for order in [journals, journals.reversed()] {
            var generator = SeededGenerator(seed: UInt64(timelines.count))
            let store = try Store.openInMemory(
                place: StorePlace(machine: "m", file: "f"), hostName: "anna", generator: &generator)
            for replica in order {
                _ = try await store.ingest(try run(in: replica), job: Store.job, now: .anyTime)
            }
            timelines.append(try await store.timeline(of: Store.job, item: nil).rest())
        }
        #expect(timelines[0] == timelines[1])
        #expect(timelines[0].map { $0.settings.map(\.value) } == [["of the copy"], ["of the original"]])
        #expect(timelines[0].map(\.key.journal) == [journals[1], journals[0]])
        let keys = timelines[0].map(\.key)
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }, "no two stand at one place")
    }
}
